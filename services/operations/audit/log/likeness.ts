// What a name reads as, for whoever compares names by eye: letter case, accents, wide and ornamental forms, and letters of other scripts that are drawn
// as Latin ones do not count. Two names of one likeness may be different words; a name that is to be taken for another has its likeness.

/** By Latin letter, those that look like it after compatibility forms, case and accents are gone; after Unicode's list of confusable characters. */
const alike: Readonly<Record<string, string>> = {
  a: "\u0430\u03b1\u0251",
  b: "\u042c\u044c",
  c: "\u0441\u03f2\u1d04",
  d: "\u0501\u0257",
  e: "\u0435\u0454\u03b5\u0259",
  f: "\u0192\ua799",
  g: "\u0261\u0581",
  h: "\u04bb\u0570\u0127",
  i: "\u0456\u03b9\u0131\u04cf1l|\u01c0",
  j: "\u0458\u03f3\u0575",
  k: "\u043a\u03ba",
  m: "\u043c",
  n: "\u043f\u03b7\u0578\u057c",
  o: "\u043e\u03bf\u0585\u00f80\u03c3",
  p: "\u0440\u03c1",
  q: "\u051b\u0566",
  r: "\u0433\u1d26",
  s: "\u0455\ua731",
  t: "\u0442\u03c4",
  u: "\u03c5\u057d\u1d1c",
  v: "\u0475\u03bd\u1d20",
  w: "\u051d\u03c9\u0461\u1d21",
  x: "\u0445\u03c7",
  y: "\u0443\u03b3\u04af",
  z: "\u1d22",
};
/** Capitals that look like another Latin letter than their small form does. */
const alikeCapitals: Readonly<Record<string, string>> = {
  b: "\u0412\u0392",
  h: "\u041d\u0397",
  n: "\u039d",
  y: "\u03a5",
  z: "\u0396",
};
const latinOf: ReadonlyMap<string, string> = new Map(
  [...Object.entries(alike), ...Object.entries(alikeCapitals)].flatMap(([latin, others]) =>
    [...others].map((other) => [other, latin] as const),
  ),
);

export function likeness(name: string): string {
  let seen = "";
  for (const character of withoutMarks(name)) {
    const small = latinOf.get(character) ?? withoutMarks(character.toLowerCase());
    seen += latinOf.get(small) ?? small;
  }
  return seen;
}

function withoutMarks(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "");
}
