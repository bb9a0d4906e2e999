#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# No file above 800 lines, no function above 100 lines or 6 parameters (the
# public interface is given, and may have more), no backward goto. A sample has less than 300
# lines in all.

. "$(dirname "$0")/objects.sh"
api=$(api_functions | tr '\n' ' ')

{
for dir in samples/*/; do
	lines=$(git ls-files -co --exclude-standard "$dir" | xargs cat | wc -l)
	[ "$lines" -lt 300 ] || echo "$dir: $lines lines"
done
git ls-files -co --exclude-standard 'drivers/*.c' 'drivers/*.h' 'selftests/modules/*.[ch]' 'samples/*.[ch]' |
grep -v /tests/ |
while read -r file; do
	[ -f "$file" ] || continue
	awk -v file="$file" -v api=" $api" '
	# A definition: its head starts in column one and ends before "{".
	/^[a-z][^;]*$/ && !/^(struct|enum|union|typedef|static const|const)[^(]*$/ {
		head = $0; at = FNR; reading = 1; next
	}
	reading && !/^\{/ { head = head " " $0; if (/;/) reading = 0 }
	reading && /^\{/ {
		params = head
		name = head
		sub(/ *\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		sub(/^[^(]*\(/, "", params)
		commas = gsub(/,/, ",", params)
		if (commas + 1 > 6 && head !~ /TRACE|DEFINE|DECLARE/ &&
		    !index(api, " " name " "))
			printf "%s:%d: %d parameters\n", file, at, commas + 1
		start = FNR; reading = 0; inside = 1
		split("", labels)
	}
	inside && /^[a-z_]+:/ { label = $1; sub(/:.*/, "", label); labels[label] = 1 }
	inside && /[ \t]goto / {
		label = $0; sub(/.*goto /, "", label); sub(/;.*/, "", label)
		if (label in labels)
			printf "%s:%d: goto %s goes back\n", file, FNR, label
	}
	inside && /^\}/ {
		if (FNR - start > 100)
			printf "%s:%d: %d lines in one function\n", file, at, FNR - start
		inside = 0
	}
	END { if (FNR > 800) printf "%s: %d lines\n", file, FNR }' "$file"
done
} | { ! grep .; }
