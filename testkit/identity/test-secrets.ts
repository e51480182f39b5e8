// Secrets in memory for the tests of this folder, asynchronous enough for two processes that start at once to meet.
import { Fault } from "../../contracts/src/fault.ts";
import type { Secret, Secrets } from "../../ports/secrets.ts";

export function memorySecrets(): Secrets {
  const kept = new Map<string, Secret>();
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  function write(path: string, value: string): Secret {
    const secret = { path, value, version: (kept.get(path)?.version ?? 0) + 1 };
    kept.set(path, secret);
    return secret;
  }
  return {
    async get(path) {
      await turn();
      return kept.get(path);
    },
    async put(path, value, { expectedVersion } = {}) {
      await turn();
      if (expectedVersion !== undefined && expectedVersion !== (kept.get(path)?.version ?? 0)) {
        throw new Fault("SECRETS_CONFLICT", "somebody was faster", { retry: "now" });
      }
      return write(path, value);
    },
    list: async () => [...kept.keys()].sort(),
    async rotate(path, next) {
      await turn();
      return write(path, next(kept.get(path)));
    },
    close: async () => undefined,
  };
}
