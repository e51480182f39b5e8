// Which secrets people write: those that outside services gave us, by the first word of their path. What the platform makes for itself it also replaces itself.
export const secretFolders = ["chat", "mail", "model", "broker", "storage", "filings"] as const;

/** A segment as the secrets store takes it. */
const segment = /^[A-Za-z0-9._-]{0,127}[A-Za-z0-9_-]$/;

/** `chat/token`, without the platform's own prefix. */
export function isWritableSecret(path: string): boolean {
  const [first, ...rest] = path.split("/");
  return (
    secretFolders.some((folder) => folder === first) && rest.length > 0 && rest.every((name) => segment.test(name))
  );
}
