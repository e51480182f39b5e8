// Text from anywhere as one bearable line, for records that refuse anything else: a halt must not fail because its reason has a tab.

const unprintable = /[\p{Cc}\u2028\u2029]/gu;

export function line(text: string, lengthMax: number): string {
  return text.replaceAll(unprintable, " ").slice(0, lengthMax);
}
