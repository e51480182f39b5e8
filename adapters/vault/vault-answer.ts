// Looking into what Vault answered without trusting its shape.

/** The member of that name, or undefined when this is not an object that has it. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

export function textField(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}

export function textsField(value: unknown, name: string): readonly string[] | undefined {
  const found = field(value, name);
  return Array.isArray(found) && found.every((one) => typeof one === "string") ? found : undefined;
}

/** A version number as Vault counts them, from 1. */
export function versionField(value: unknown): number | undefined {
  const found = field(value, "version");
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 1 ? found : undefined;
}
