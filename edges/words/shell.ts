// A command as a person pastes it into a shell: the fixed part as it stands, and every value in it as one word, whatever is in that word. A value may come from
// an address that somebody else made.

const plain = /^[A-Za-z0-9@%+=:,./_-]+$/;

/** One word of a shell. */
function quoted(word: string): string {
  return plain.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** shell`ctl why ${orderId}`: a list stands for as many words as it has, and an empty one for none. */
export function shell(fixed: TemplateStringsArray, ...values: readonly (string | readonly string[])[]): string {
  return fixed
    .map((text, place) => {
      const value = values[place] ?? [];
      if (typeof value === "string") return `${text}${quoted(value)}`;
      return value.length === 0 ? text.replace(/ $/, "") : `${text}${value.map(quoted).join(" ")}`;
    })
    .join("");
}
