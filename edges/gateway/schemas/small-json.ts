// Whether a parsed JSON value is small: bounded in depth, in the number of its values and in characters. It walks with a list of
// its own instead of calling itself, because a value nested a hundred thousand deep must not overflow the stack that checks it.
/** Of the parameters of an action. */
const [depthMax, valuesMax, charactersMax] = [8, 256, 16_384];

export function isSmallJson(value: unknown): boolean {
  let left = valuesMax;
  let characters = charactersMax;
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    left -= 1;
    if (typeof next.value === "string") characters -= next.value.length;
    if (left < 0 || characters < 0) return false;
    if (typeof next.value !== "object" || next.value === null) continue;
    const entries = Object.entries(next.value);
    if (next.depth >= depthMax || entries.length > left) return false;
    for (const [key, inner] of entries) {
      if (!Array.isArray(next.value)) characters -= key.length;
      waiting.push({ value: inner, depth: next.depth + 1 });
    }
  }
  return characters >= 0;
}
