# SPDX-License-Identifier: GPL-2.0-only
"""Files in sysfs and debugfs, module parameters and words of control files, as the sources have them.

Names and modes come from the definitions. What is allowed comes from the message that refuses everything else, with
the numbers that it would print, and from the bounds that are compared; units from these, from the end of a name, or
from what is printed behind a number; defaults from initialisers. What cannot be told is None, or a gap in a text.
"""

import copy
import re

from csource import arguments, evaluate, formatted, literal_of
from messages import GAP, STRING, unquote

# Where the files of an array of groups are, or of an array of attributes that is in no group.
PLACES = {
    "rtrs_clt_sess_groups": "/sys/class/rtrs-client/<session>/",
    "rtrs_clt_path_groups": "/sys/class/rtrs-client/<session>/paths/<path>/",
    "rtrs_srv_path_groups": "/sys/class/rtrs-server/<session>/paths/<path>/",
    "rnbd_clt_ctl_groups": "/sys/class/rnbd-client/ctl/",
    "rnbd_clt_sysfs_attrs": "/sys/block/rnbd<N>/rnbd/",
    "rnbd_srv_ctl_attrs": "/sys/class/rnbd-server/ctl/",
    "rnbd_srv_export_groups": "/sys/class/rnbd-server/ctl/devices/<device>/",
    "rnbd_srv_ctl_dev_groups": "/sys/class/rnbd-server/ctl/devices/<device>/sessions/<session>/",
    "rnbd_srv_offer_groups": "/sys/class/rnbd-server/ctl/exports/<name>/",
}

# The same for links, by the function that makes them.
LINKS = {
    "rnbd_clt_sysfs_add": "/sys/class/rnbd-client/ctl/devices/<path>@<session>",
    "rnbd_srv_export_create": "/sys/class/rnbd-server/ctl/devices/<device>/block_dev",
}

# Files that take the words of a table; how many of its rows, if not all.
KEYS = {
    "rnbd_options_keys": [("/sys/class/rnbd-client/ctl/map_device", None)],
    "rnbd_offer_keys": [("/sys/class/rnbd-server/ctl/export_device", None),
                        ("/sys/class/rnbd-server/ctl/unexport_device", 1)],
    "rtrs_perf_session_keys": [("/sys/kernel/debug/rtrs-perf-client/session", None)],
    "rtrs_perf_run_keys": [("/sys/kernel/debug/rtrs-perf-client/run", None)],
}

# Other ways to make files, which nothing here can read.
UNKNOWN = (r"\b((?:DRIVER|CLASS|BUS|BIN)_ATTR\w*|bin_attribute|core_param"
           r"|module_param_(?:array|string|hw|call|unsafe)\w*"
           r"|(?:device|class|driver)_create_(?:bin_)?file|sysfs_create_(?:file|group|bin_file|file_ns|mount_point)"
           r"|sysfs_(?:add|merge)_\w+|debugfs_create_(?!dir\b|file\b|file_unsafe\b)\w+|proc_create\w*"
           r"|configfs_register\w*|misc_register|register_sysctl\w*)\s*\(")

SUFFIXES = {"_ms": "milliseconds", "_mb": "MiB", "_mb_per_client": "MiB"}
EMITTED = {" ns\n": "nanoseconds"}
MODES = {"RO": "0444", "RW": "0644", "WO": "0200"}
FRACTIONS = {"2": "half", "4": "a quarter", "8": "an eighth"}

# A value that is compared with the least and the most that it may be.
BOUNDS = re.compile(r"([\w.>-]+) < ([^&|()]+?) \|\| \1 > ([^&|()]+?)(?=\)| \|\||;)")

# How deep a bound or a message may be below the function that takes what was written.
DEPTH = 2


class Fact:
    """What the source says of one file, parameter or word."""

    def __init__(self, where, access=None):
        self.where, self.access = where, access
        self.range = self.unit = self.default = None
        # How many numbers it reads, or which words, if that is all that it reads.
        self.numbers, self.words = None, []
        self.keys = {}


def plain_range(text):
    """Text of a message as a range: without what every range has in front."""
    text = re.sub(r"^(?:a number (?:of \w+ )?)(?:from )?", "", text)
    return re.sub(r"^1 to reset$", "1", text.strip())


class Facts:
    """Everything, by path; and complaints about what is wrong in the sources themselves."""

    def __init__(self, units):
        self.units = units
        self.found = {}
        self.names = {}
        self.complaints = []
        self.objects = {}
        self.arrays = {}
        self.groups = {}
        self.functions = {}
        for unit in units:
            for name, function in unit.functions.items():
                self.functions.setdefault(name, function)
        for unit in units:
            self.read_attributes(unit)
            self.read_directories(unit)
        self.timings = self.struct_defaults("rtrs_clt_timing")
        self.place_attributes()
        for unit in units:
            self.read_parameters(unit)
            self.read_keys(unit)
            self.read_debugfs(unit)
            self.refuse_unknown(unit)
        self.fill_defaults()
        self.refuse_untold()

    def complain(self, where, what):
        """Note something that is wrong in the sources, or that cannot be read."""
        self.complaints.append(f"{where}: {what}")

    def add(self, path, fact):
        """Note a file."""
        if path in self.found:
            self.complain(fact.where, f"{path} is there twice, see {self.found[path].where}")
        self.found[path] = fact

    # Attributes of sysfs: objects, arrays of them, groups with an array and a name, arrays of groups.

    def read_attributes(self, unit):
        """Note what a file has of all these."""
        for found, where in unit.find(r"struct (?:kobj|device)_attribute (\w+)\s*=\s*__ATTR(?:_(RO|RW|WO))?\s*\("):
            self.add_object(unit, found[1], found[2], arguments(found.string, found.end()), where)
        for found, where in unit.find(r"^(?:static )?DEVICE_ATTR(?:_(RO|RW|WO))?\s*\("):
            args = arguments(found.string, found.end())
            self.add_object(unit, "dev_attr_" + args[0], found[1], args, where)
        for found, where in unit.find(r"struct attribute \*\s*(?:const )?(\w+)\s*\[\]\s*=\s*\{(.*)\}"):
            names = re.findall(r"&\s*(\w+)\s*\.\s*attr\b", found[2])
            if len(names) != len(re.findall(r"&", found[2])):
                self.complain(where, f"{found[1]}: elements that cannot be read")
            self.arrays[found[1]] = (unit, names, where)
        for found, where in unit.find(r"struct attribute_group (\w+)\s*=\s*\{(.*)\}"):
            name = re.search(r"\.\s*name\s*=\s*\"([^\"]*)\"", found[2])
            attrs = re.search(r"\.\s*attrs\s*=\s*(\w+)", found[2])
            self.groups[found[1]] = (name[1] + "/" if name else "", attrs[1] if attrs else None)
            if name:
                self.names.setdefault(name[1], where)
            if re.search(r"\.\s*(?:is_visible|bin_attrs|is_bin_visible)\b", found[2]):
                self.complain(where, f"{found[1]}: files that are not always there cannot be read")
        for found, where in unit.find(r"struct attribute_group \*\s*(?:const )?(\w+)\s*\[\]\s*=\s*\{(.*)\}"):
            self.groups.setdefault("*", {})
            self.groups["*"][found[1]] = (re.findall(r"&\s*(\w+)", found[2]), where)
        for found, where in unit.find(r"^(?:static )?ATTRIBUTE_GROUPS\s*\(\s*(\w+)\s*\)"):
            self.groups.setdefault("*", {})
            self.groups[found[1] + "_group"] = ("", found[1] + "_attrs")
            self.groups["*"][found[1] + "_groups"] = ([found[1] + "_group"], where)

    def add_object(self, unit, name, kind, args, where):
        """Note an attribute."""
        if kind:
            mode, store = MODES[kind], args[0] + "_store" if kind != "RO" else None
            show = args[0] + "_show" if kind != "WO" else None
        else:
            mode, show, store = args[1], args[2], args[3]
            if not re.fullmatch(r"0[0-7]{3}", mode):
                self.complain(where, f"{args[0]}: mode {mode} cannot be read")
        self.objects[unit.path, name] = [args[0], mode, show, store, where, False]

    def place_attributes(self):
        """Make files of attributes."""
        lists = self.groups.pop("*", {})
        used = set()
        for name, place in PLACES.items():
            if name in lists:
                for group in lists[name][0]:
                    sub, array = self.groups.get(group, ("", None))
                    used |= {group, array}
                    self.place_array(array, place + sub, name)
            else:
                used.add(name)
                self.place_array(name, place, name)
        for name, (_, where) in lists.items():
            if name not in PLACES:
                self.complain(where, f"{name}: where in sysfs it is has to be told in PLACES")
        for name, (_, _, where) in self.arrays.items():
            if name not in used:
                self.complain(where, f"{name}: in no group, and not in PLACES")
        for name, _, _, _, where, placed in self.objects.values():
            if not placed:
                self.complain(where, f"attribute {name} is in no array, so nobody sees it")

    def place_array(self, array, place, name):
        """Make files of an array."""
        if array not in self.arrays:
            self.complain("PLACES", f"there is no {array or name} in the sources")
            return
        unit, names, where = self.arrays[array]
        for obj in names:
            found = self.objects.get((unit.path, obj))
            if not found:
                self.complain(where, f"{array}: {obj} cannot be found")
                continue
            found[5] = True
            fact = Fact(found[4], found[1])
            self.describe_file(unit, fact, found)
            self.add(place + found[0], fact)

    def describe_file(self, unit, fact, found):
        """Range and unit of an attribute."""
        name, mode, show, store = found[:4]
        if (store in (None, "NULL")) != (mode == "0444"):
            self.complain(found[4], f"{name}: mode {mode} does not go with its methods")
        if store not in (None, "NULL"):
            self.take_range(fact, self.function(unit, store), {}, found[4])
        printed = self.function(unit, show)
        for text in re.findall(STRING, printed.body) if printed else []:
            for end, what in EMITTED.items():
                if unquote(text).endswith(end):
                    fact.unit = what
        self.unit_of_name(fact, name)
        if printed:
            self.take_read(fact, printed)

    def take_read(self, fact, function):
        """Note what a method prints, itself or with one function that it calls."""
        calls = list(function.calls())
        printers = [self.functions[called] for called, _ in calls if "_show_" in called and called in self.functions]
        calls += [call for callee in printers for call in callee.calls()]
        emits = [args for called, args in calls if called.startswith("sysfs_emit")]
        text = literal_of(emits[0][1]) if len(emits) == 1 and len(emits[0]) > 1 else None
        if text and re.fullmatch(r"(?:%l*[ud] ?)+\n", text):
            fact.numbers = text.count("%")
        elif text == "%s\n":
            fact.words = self.words_of(emits[0][2], function)

    def words_of(self, expression, function):
        """Words that an expression may be: literals in it, or those of an array in a function that it calls."""
        words = [unquote(s) for s in re.findall(STRING, expression)]
        for called in re.findall(r"\b(\w+) ?\(", expression):
            callee = self.functions.get(called)
            words += re.findall(r'\] *= "([^"]*)"', callee.body) if callee else []
        return words

    @staticmethod
    def unit_of_name(fact, name):
        """Unit that the end of a name tells."""
        for end, what in SUFFIXES.items():
            if name.endswith(end):
                fact.unit = what

    def function(self, unit, name):
        """A function by its name, of this file rather than of another."""
        return unit.functions.get(name) or self.functions.get(name)

    # What a function allows.

    def take_range(self, fact, function, values, where, name=None):
        """Note what a function that takes text allows."""
        texts, bounds = [], []
        self.look(function, values, DEPTH, texts, bounds, name)
        if texts:
            unit = re.match(r"a number of (\w+)|.*: \S+ (bytes), ", texts[0])
            fact.unit = unit and (unit[1] or unit[2]) or fact.unit
            fact.range = plain_range(re.sub(r".*: \S+ bytes, allowed are ", "", texts[0]))
        for low, high in bounds:
            for number in (low, high):
                if number is not None and fact.range and \
                   str(number) not in re.findall(r"(?<![\w.])-?\d+", fact.range):
                    self.complain(where, f"{number} is a bound, but what is said to be allowed is: {shown(fact.range)}")

    def look(self, function, values, depth, texts, bounds, name):
        """Collect what a function, and those that it calls, say is allowed, and what they compare."""
        if not function:
            return
        values = {**values, **self.locals_of(function, values)}
        for called, args in function.calls():
            start = {"pr_err": 0, "pr_warn": 0, "rtrs_clt_err": 1, "rnbd_clt_err": 1, "scnprintf": 2}.get(called)
            text = formatted(args[start:], values) if start is not None and len(args) > start else None
            said = text and self.allowed(text, called, name)
            if said:
                texts.append(said)
        for _, low, high in BOUNDS.findall(function.body):
            bounds.append((evaluate(low, values), evaluate(high, values)))
        for called, args in function.calls() if depth else []:
            callee = self.functions.get(called)
            if callee and len(callee.params) == len(args):
                inner = {p: values.get(a, a) for p, a in zip(callee.params, args)}
                self.look(callee, inner, depth - 1, texts, bounds, name)

    @staticmethod
    def allowed(text, called, name):
        """The part of a message that says what is allowed."""
        text = text.rstrip("\n")
        if called == "scnprintf":
            return text
        if name and not re.match(rf"parameter (?:{name}|{GAP})=", text):
            return None
        if re.search(r": \S+ bytes, allowed are ", text):
            return re.sub(r".*(: \S+ bytes, allowed are )", r"\1", text)
        found = re.search(r"(?:\ballowed (?:is|are)|: expected|, write) (?!state)(.*)", text)
        return found and found[1]

    @staticmethod
    def locals_of(function, values):
        """Variables that begin with a constant."""
        found = re.findall(r"\b(?:int|unsigned int|u32|u64) (\w+) = ([^;]+);", function.body)
        return {name: text for name, text in found if evaluate(text, values) is not None}

    # Directories and links.

    def read_directories(self, unit):
        """Note names of directories and links."""
        for found, where in unit.find(r"struct class \w+\s*=\s*\{[^}]*\.\s*name\s*=\s*\"([^\"]+)\""):
            self.names.setdefault(found[1], where)
        for found, where in unit.find(r"\.class\s*=\s*\{\s*\.\s*name\s*=\s*\"([^\"]+)\""):
            self.names.setdefault(found[1], where)
        for function in unit.functions.values():
            for called, args in function.calls():
                at = {"kobject_create_and_add": 0, "debugfs_create_dir": 0, "device_create": -1}.get(called)
                name = literal_of(args[at]) if at is not None else None
                if name and "%" not in name:
                    self.names.setdefault(name, str(unit.path))
                if called in ("sysfs_create_link", "sysfs_create_link_nowarn"):
                    if function.name in LINKS:
                        self.add(LINKS[function.name], Fact(str(unit.path), "link"))
                    else:
                        self.complain(unit.path, f"{function.name}(): which link it makes has to be told in LINKS")

    # Parameters of modules.

    def read_parameters(self, unit):
        """Note the parameters that a file defines."""
        descs = {}
        for found, _ in unit.find(r"^MODULE_PARM_DESC\s*\(\s*(\w+)\s*,(.*)\)\s*;$"):
            descs[found[1]] = literal_of(found[2].replace("__stringify", "")) or \
                              "".join(unquote(s) if s[0] == '"' else s for s in
                                      re.findall(STRING + r"|(?<=__stringify\()\w+", found[2]))
        for found, where in unit.find(r"^module_param(_named|_cb)?\s*\("):
            args = arguments(found.string, found.end())
            name, kind, mode = args[0], args[-2] if found[1] != "_cb" else None, args[-1]
            variable = re.sub(r"[&()\s]", "", args[2] if found[1] == "_cb" else args[1] if found[1] else name)
            fact = Fact(where, mode)
            if kind == "bool":
                fact.range, fact.unit = "Y or N", "none"
            self.take_parameter_range(unit, fact, name, args[1] if found[1] == "_cb" else None, variable)
            self.unit_of_name(fact, name)
            self.take_parameter_default(unit, fact, kind, variable, (name, descs.get(name)))
            self.add(f"/sys/module/{unit.module}/parameters/{name}", fact)

    def take_parameter_range(self, unit, fact, name, ops, variable):
        """What a parameter may be: by its own method, or by a function of the file that looks at all of them."""
        if ops:
            methods = rf"kernel_param_ops {ops.strip('&')}\s*=\s*\{{[^}}]*\.\s*set\s*=\s*(\w+)"
            # They may be another module's.
            functions = [its.functions.get(found[1]) for its in self.units for found, _ in its.find(methods)]
        else:
            functions = [f for f in unit.functions.values() if f'"parameter {name}=' in f.body]
        for function in functions:
            self.take_range(fact, function and without_other_bounds(function, variable), {}, fact.where, name)

    def take_parameter_default(self, unit, fact, kind, variable, described):
        """Default of a parameter: initialiser and description have to agree."""
        value = self.initial(unit, variable)
        if kind == "bool":
            value = "Y" if value in ("true", "1") else "N"
        name, desc = described
        told = re.search(r"\(default: (.*)\)$", desc or "")
        if not told:
            self.complain(fact.where, f"{name}: its description does not end with its default")
            return
        # Nothing there: a function computes it when the module is loaded.
        if value is None:
            code = " ".join(f.body for f in unit.functions.values())
            ratio = re.search(rf"{re.escape(variable)} = \w+ / (\d+);", code)
            value = FRACTIONS.get(ratio[1]) if ratio else None
            if not ratio and list(unit.find(rf"^static (?:unsigned )?int {re.escape(variable)}\s*;$")):
                value = "0"
            if not value or not told[1].startswith(value):
                self.complain(fact.where, f"{name}: its default cannot be told from the source: {told[1]}")
        elif value != told[1]:
            self.complain(fact.where, f"{name} is {value} by default, its description says {told[1]}")
        fact.default = value

    @staticmethod
    def initial(unit, variable):
        """Initial value of a variable, an element or a member; None if there is none."""
        base, rest = re.match(r"(\w+)(.*)", variable).groups()
        for found, _ in unit.find(rf"\b{base}(?:\s*\[[^\]]*\])?\s*=\s*(.*);$"):
            text = found[1].strip()
            if not rest:
                return literal_of(text) or (str(evaluate(text)) if evaluate(text) is not None and
                                            text not in ("true", "false") else text)
            field = re.escape(rest)
            member = re.search(rf"{field}\s*=\s*([^,}}]+)", re.sub(r"\s+", " ", text))
            return member[1].strip() if member else None
        return None

    # Words of control files.

    def read_keys(self, unit):
        """Note the words of a table."""
        for found, where in unit.find(r"\b(\w+_keys)\s*\[\]\s*=\s*\{(.*)\}\s*;$"):
            if found[1] not in KEYS:
                self.complain(where, f"{found[1]}: which file takes these words has to be told in KEYS")
                continue
            rows = self.rows(unit, found[2], where)
            for path, number in KEYS[found[1]]:
                if path not in self.found:
                    self.complain("KEYS", f"there is no {path} in the sources")
                    continue
                keys = dict(list(rows.items())[:number])
                self.found[path].keys.update(keys)
                self.check_hint(unit, keys, path)

    def rows(self, unit, text, where):
        """Rows of such a table: a word and what is allowed."""
        rows = {}
        defaults, needed = self.key_defaults(unit)
        for row in re.findall(r"\{((?:[^{}\"]|" + STRING + r")*)\}", text):
            cells = arguments(row + ")", 0)
            name, fact = literal_of(cells[0]), Fact(where)
            function = unit.functions.get(cells[1])
            self.take_range(fact, function, {}, where)
            said = literal_of(cells[2]) if len(cells) > 2 else None
            fact.range = fact.range or (said and plain_range(said))
            self.unit_of_name(fact, name)
            number = function and any(c.endswith(("_int", "_range")) for c, _ in function.calls())
            fact.default = "mandatory" if name in needed else defaults.get(name, "0" if number else "none")
            rows[name] = fact
        return rows

    def key_defaults(self, unit):
        """What a parser begins with, and the words that it cannot do without."""
        defaults, needed = {}, set()
        for function in unit.functions.values():
            needed.update(re.findall(r"!(?:opts|offer)->(\w+)\b", function.body))
            if not function.name.endswith(("_parse", "_begin")):
                continue
            pairs = re.findall(r"(?:opts->|[{,]\s*\.)(\w+) = ([^,;{}]+?)\s*(?=[,;}])", function.body)
            defaults.update((name, default_text(value)) for name, value in pairs)
        return defaults, needed

    def check_hint(self, unit, keys, path):
        """The message about an unknown word has to list all that are known."""
        want = [key + "=" for key in keys]
        for function in unit.functions.values():
            for text in re.findall(rf"(?:{STRING}\s*)+", function.body):
                text = "".join(unquote(s) for s in re.findall(STRING, text))
                if re.findall(r"\w+=(?=,| or|$)", text) == want and re.sub(r"\w+=(?:, | or )?", "", text) == "":
                    return
        self.complain(unit.path, f"no message lists all words of {path}: {' '.join(want)}")

    # debugfs.

    def read_debugfs(self, unit):
        """Note files of debugfs: fault points, and those with a name of their own."""
        root = "/sys/kernel/debug/" + (unit.module or "").replace("_", "-") + "/"
        points = {found[1]: found[2] for found, _ in
                  unit.find(r"struct fault_point fault_(\w+)\s*=\s*\{[^}]*\.\s*name\s*=\s*\"(\w+)\"")}
        for found, where in unit.find(r"struct fault_point \*const \w+\s*\[\]\s*=\s*\{(.*)\}"):
            for point in re.findall(r"&fault_(\w+)", found[1]):
                fact = Fact(where, self.fault_mode())
                fact.range, fact.unit, fact.default = f"0 to {self.fault_max()}", "passages", "0"
                self.add(f"{root}fault/{points.pop(point, point)}", fact)
        for point in points:
            self.complain(unit.path, f"fault point {point} is in no array")
        for function in unit.functions.values():
            for called, args in function.calls():
                if called.startswith("debugfs_create_file") and unit.module:
                    name = literal_of(args[0])
                    if name and root.split("/")[-2] in self.names:
                        fact = Fact(str(unit.path), args[1])
                        self.take_debugfs_range(unit, fact, args[4].strip("& "))
                        self.add(root + name, fact)
                    else:
                        self.complain(unit.path, f"file of debugfs that cannot be read: {args[0]}")

    def take_debugfs_range(self, unit, fact, fops):
        """What a file of debugfs takes, by its method."""
        for found, _ in unit.find(rf"struct file_operations {fops}\s*=\s*\{{[^}}]*\.\s*write\s*=\s*(\w+)"):
            self.take_range(fact, unit.functions.get(found[1]), {}, fact.where)

    def fault_mode(self):
        """Mode of all fault points."""
        for called, args in self.functions["fault_create_files"].calls():
            if called.startswith("debugfs_create_file"):
                return args[1]
        return None

    def fault_max(self):
        """The largest number that a fault point takes."""
        found = re.search(r"val > (\w+)", self.functions["fault_set"].body)
        return evaluate(found[1]) if found else None

    # Defaults that are somewhere else than the file.

    def struct_defaults(self, struct):
        """What a compound literal of a structure begins with; all of them have to agree."""
        values = {}
        for unit in self.units:
            text = " ".join([item for item, _ in unit.items] + [f.body for f in unit.functions.values()])
            for body in re.findall(rf"struct {struct}(?:\)| \w+ =)\s*\{{([^{{}}]*)\}}", text):
                for name, value in re.findall(r"\.\s*(\w+) = ([^,}]+?)\s*(?=[,}]|$)", body):
                    if evaluate(value) is not None and values.setdefault(name, value) != value:
                        self.complain(unit.path, f"{name} is {value} by default here, {values[name]} elsewhere")
        return values

    def fill_defaults(self):
        """Defaults of what a session or a device begins with."""
        session = dict(self.timings)
        for unit in self.units:
            for function in unit.functions.values():
                policy = re.search(r"->policy = RTRS_MP_(\w+);", function.body)
                if policy:
                    session["mpath_policy"] = policy[1].lower().replace("_", "-")
                for called, args in function.calls():
                    callee = self.functions.get(called)
                    if called == "rtrs_clt_open_timed" and unit.module == "rnbd_client":
                        at = dict(zip(callee.params, args))
                        session["max_reconnect_attempts"] = at.get("max_reconnect_attempts")
        place = PLACES["rtrs_clt_sess_groups"]
        for name, value in session.items():
            if place + name in self.found:
                self.found[place + name].default = value
        mapped = self.found.get("/sys/class/rnbd-client/ctl/map_device")
        for name, key in (mapped.keys if mapped else {}).items():
            below = self.found.get(PLACES["rnbd_clt_sysfs_attrs"] + name)
            if below:
                below.default = None if key.default == "mandatory" else key.default

    def refuse_untold(self):
        """What can be written, at any time or when the module is loaded, has a range that can be told."""
        for path, fact in self.found.items():
            takes = fact.access in ("0200", "0600", "0644") or path.startswith("/sys/module/")
            if takes and not fact.keys and not fact.range:
                self.complain(fact.where, f"{path}: no message says what is allowed")
            for key, below in fact.keys.items():
                if not below.range:
                    self.complain(below.where, f"{path} {key}=: no message says what is allowed")

    def refuse_unknown(self, unit):
        """What this check does not know it must not pass over."""
        texts = [item for item, _ in unit.items] + [f.body for f in unit.functions.values()]
        for name in re.findall(UNKNOWN, " ".join(texts)):
            self.complain(unit.path, f"{name}(): makes a file that this check cannot read")


def shown(text):
    """Text with gaps for people."""
    return text.replace(GAP, "<...>")


def default_text(value):
    """Initial value of a word as it is written."""
    mode = re.fullmatch(r"RNBD_ACCESS_(\w+)", value)
    number = evaluate(value)
    return mode[1].lower() if mode else str(number) if number is not None else value


def without_other_bounds(function, variable):
    """The function with comparisons of this variable only."""
    keep = copy.copy(function)
    keep.body = BOUNDS.sub(lambda m: m[0] if m[1] == variable else "0", function.body)
    return keep
