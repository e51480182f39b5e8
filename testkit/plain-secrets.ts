// Secrets in plain memory, for fixtures and benches that need a place for a key and are about something else.
import { Fault } from "../contracts/src/fault.ts";
import type { Secret, Secrets } from "../ports/secrets.ts";

export function plainSecrets(): Secrets {
  const kept = new Map<string, Secret>();
  const write = (path: string, value: string): Secret => {
    const secret = { path, value, version: (kept.get(path)?.version ?? 0) + 1 };
    kept.set(path, secret);
    return secret;
  };
  return {
    get: async (path) => kept.get(path),
    async put(path, value, { expectedVersion } = {}) {
      if (expectedVersion !== undefined && expectedVersion !== (kept.get(path)?.version ?? 0)) {
        throw new Fault("SECRETS_CONFLICT", "somebody was faster", { retry: "now" });
      }
      return write(path, value);
    },
    list: async () => [...kept.keys()].sort(),
    rotate: async (path, next) => write(path, next(kept.get(path))),
    close: async () => undefined,
  };
}
