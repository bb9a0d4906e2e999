# SPDX-License-Identifier: GPL-2.0-only
"""Documentation/netlink/specs/rtrs.yaml against include/uapi/rdma/rtrs_netlink.h.

Enumerations of both have the same names with the same values, in both directions; so have names of family and
group. Attributes of requests, their types and their bounds, are those of the command's policy. The tool knows each event by the name
that the specification has. What one has and another has not is printed, and is a failure.
"""

import pathlib
import re
import sys

import yaml

SPEC = pathlib.Path("Documentation/netlink/specs/rtrs.yaml")
HEADER = pathlib.Path("include/uapi/rdma/rtrs_netlink.h")
FAMILY = pathlib.Path("drivers/infiniband/ulp/rtrs/core/family.c")
KERNEL_HEADER = pathlib.Path("include/rdma/rtrs-nl.h")
TOOL = pathlib.Path("tools/rnbd/cmd_events.c")

complaints = []


def constant(prefix, name):
    """rtrs-nl-a-, hca-name -> RTRS_NL_A_HCA_NAME"""
    return (prefix + name).upper().replace("-", "_")


def header_enums(text):
    """{enumerator: value} of all, without those that say where one ends or begins."""
    values = {}
    for body in re.findall(r"^enum rtrs_nl_\w+ \{\n(.*?)^\};", text, re.M | re.S):
        names = re.findall(r"^\t([A-Z]\w*)(?: = [^,\n]*)?,?$", body, re.M)
        values.update({name: value for value, name in enumerate(names)
                       if not re.fullmatch(r"_*RTRS_NL_[A-Z]+_(UNSPEC|MAX)", name)})
    return values


def spec_enums(spec):
    """The same of the specification. Enumerations count from 0, attributes and operations from 1."""
    values = {}
    for enum in spec["definitions"]:
        values.update({constant(enum["name-prefix"], name): i for i, name in enumerate(enum["entries"])})
    for attributes in spec["attribute-sets"]:
        values.update({constant(attributes["name-prefix"], attr["name"]): i
                       for i, attr in enumerate(attributes["attributes"], 1)})
    operations = spec["operations"]
    values.update({constant(operations["name-prefix"], op["name"]): i for i, op in enumerate(operations["list"], 1)})
    return values


def compare(what, here, there):
    """Two dictionaries that should be the same."""
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            complaints.append(f"{what}: {name}: {SPEC.name} has {here.get(name)}, the other {there.get(name)}")


def defines(text):
    """{macro: value} of simple ones."""
    return dict(re.findall(r"^#define (\w+)\s+\"?([\w-]+)\"?$", text, re.M))


def policy(text, header, numbers):
    """{operation: {attribute: (type, bound)}} of the policies of requests."""
    policies = {}
    for name, body in re.findall(r"nla_policy (\w+)\[\] = \{\n(.*?)^\};", text, re.M | re.S):
        policies[name] = found = {}
        for attr, rest in re.findall(r"^\t\[(\w+)\]\s*= (.*),$", body, re.M):
            if match := re.match(r"NLA_POLICY_MAX\(NLA_(\w+), (\w+)\)", rest):
                found[attr] = match[1].lower(), header[match[2]]
            elif match := re.match(r"\{ \.type = NLA_NUL_STRING, \.len = (\w+) - 1 \}", rest):
                found[attr] = "string", int(numbers[match[1]]) - 1
            elif match := re.match(r"\{ \.type = NLA_([US]32|FLAG) \}", rest):
                found[attr] = match[1].lower(), None
            else:
                complaints.append(f"{FAMILY}: {name}: policy of {attr} cannot be read: {rest}")
    commands = {cmd: "rtrs_nl_get_policy" for cmd in re.findall(r"^\tRTRS_NL_GET\((\w+),", text, re.M)}
    commands.update(re.findall(r"^\tRTRS_NL_CHANGE\((\w+), (\w+)\)", text, re.M))
    return {(cmd, attr): bound for cmd, name in commands.items() for attr, bound in policies[name].items()}


def request_bounds(spec):
    """The same of the specification."""
    attrs = {attr["name"]: attr for attr in spec["attribute-sets"][0]["attributes"]}
    prefix = spec["operations"]["name-prefix"]
    found = {}
    for op in spec["operations"]["list"]:
        for how in "dump", "do":
            for name in op.get(how, {}).get("request", {}).get("attributes", []):
                checks = attrs[name].get("checks", {})
                found[constant(prefix, op["name"]), constant("rtrs-nl-a-", name)] = \
                    attrs[name]["type"], checks.get("max", checks.get("max-len"))
    return found


def used_names(spec):
    """Attributes of operations are in the set."""
    known = {attr["name"] for attr in spec["attribute-sets"][0]["attributes"]}
    for op in spec["operations"]["list"]:
        for part in (op.get("event", {}), *op.get("dump", {}).values(), *op.get("do", {}).values()):
            for name in part.get("attributes", []):
                if name not in known:
                    complaints.append(f"{SPEC.name}: {op['name']}: no attribute {name}")


def main():
    spec = yaml.safe_load(SPEC.read_text())
    text = HEADER.read_text()
    header, macros = header_enums(text), defines(text)
    compare(HEADER, spec_enums(spec), header)
    compare(HEADER, {"family": spec["name"], "group": spec["mcast-groups"]["list"][0]["name"]},
            {"family": macros.get("RTRS_NL_FAMILY_NAME"), "group": macros.get("RTRS_NL_MCGRP_EVENTS")})
    compare(FAMILY, request_bounds(spec),
            policy(FAMILY.read_text(), header, defines(KERNEL_HEADER.read_text())))
    events = next(enum for enum in spec["definitions"] if enum["name"] == "event")
    compare(TOOL, {constant(events["name-prefix"], name): name for name in events["entries"]},
            dict(re.findall(r'^\t\[(RTRS_NL_EVENT_\w+)\]\s*= "([\w-]+)"', TOOL.read_text(), re.M)))
    used_names(spec)
    for line in complaints:
        print(line)
    sys.exit(bool(complaints))


main()
