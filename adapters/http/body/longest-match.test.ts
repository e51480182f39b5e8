// How long a text of a form can be: as long as the longest that the pattern takes, and without end where nothing ends it.
import { expect, it } from "vitest";
import { longestMatch } from "./longest-match.ts";

it.each([
  [/^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$/, 128],
  [/^[0-9]{6}$/, 6],
  [/^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, 5],
  [/^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,18})?$/, 40],
  [/^operator:[^\p{Cc}\u2028\u2029]{1,200}$/u, 418],
  [/^(?:ab|[\]\\]{2,3})x?$/, 4],
  [/^(?=a)a{2}(?!b)$/, 2],
  [/^(?<all>a{3}){2}$/, 6],
  [/^\x41\u0042\.$/, 3],
  [/^(a*){0}b$/, 1],
  [/^$/, 0],
  [/^a+$/, Number.POSITIVE_INFINITY],
  [/^[a-z]*$/, Number.POSITIVE_INFINITY],
  [/^a{2,}$/, Number.POSITIVE_INFINITY],
  [/^(a|b+)$/, Number.POSITIVE_INFINITY],
  [/a{2}/, Number.POSITIVE_INFINITY],
  [/^a\$/, Number.POSITIVE_INFINITY],
  [/^a$|b/, Number.POSITIVE_INFINITY],
  [/^a|b$/, Number.POSITIVE_INFINITY],
])("%s: %d", (pattern, longest) => {
  expect(longestMatch(pattern)).toBe(longest);
});
