// The platform key is made once, whoever starts first, and its tokens are nobody else's.
import { describe, expect, it } from "vitest";
import { platformServices } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { Secret, Secrets } from "../../ports/secrets.ts";
import { dice } from "../../testkit/virtual/dice.ts";
import { openPlatformKey, platformToken, verifyPlatformToken } from "./platform-token.ts";

const path = "secret/desk/identity/platform-key";

/** Secrets in memory, asynchronous enough for two to meet. */
function memorySecrets(): Secrets & { readonly kept: Map<string, Secret> } {
  const kept = new Map<string, Secret>();
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    kept,
    async get(asked) {
      await turn();
      return kept.get(asked);
    },
    async put(asked, value, options) {
      await turn();
      const version = kept.get(asked)?.version ?? 0;
      if (options?.expectedVersion !== undefined && options.expectedVersion !== version) {
        throw new Fault("SECRETS_CONFLICT", "somebody was faster", { retry: "now" });
      }
      const secret = { path: asked, value, version: version + 1 };
      kept.set(asked, secret);
      return secret;
    },
    list: async () => [],
    rotate: () => Promise.reject(new Error("not here")),
    close: async () => undefined,
  };
}

describe("platform token", () => {
  it("of many processes that start at once, all end up with the same key, also after a restart", async () => {
    const secrets = memorySecrets();
    const openings = Array.from({ length: 6 }, (_, n) => openPlatformKey(secrets, "desk", dice(n)));
    const keys = new Set(await Promise.all(openings));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(secrets.kept.get(path)?.version).toBe(1);
    expect(await openPlatformKey(secrets, "desk", dice(99))).toBe([...keys][0]);
  });

  it("a key that is none is a fault that does not tell it; other faults pass through", async () => {
    const secrets = memorySecrets();
    await secrets.put(path, "hunter2");
    const thrown = await openPlatformKey(secrets, "desk", dice(1)).catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ code: "SECRETS_CORRUPT" });
    expect(String(thrown)).not.toContain("hunter2");
    const away = {
      ...secrets,
      get: () => Promise.reject(new Fault("SECRETS_UNAVAILABLE", "away", { retry: "later" })),
    };
    await expect(openPlatformKey(away, "desk", dice(1))).rejects.toMatchObject({ code: "SECRETS_UNAVAILABLE" });
  });

  it("each service has its own, and only the key that made it verifies it", async () => {
    const [one, other] = await Promise.all([1, 2].map((seed) => openPlatformKey(memorySecrets(), "desk", dice(seed))));
    for (const service of platformServices) {
      const token = platformToken(one ?? "", service);
      expect(token).toMatch(new RegExp(`^pci_${service}_[0-9a-f]{64}$`));
      expect(verifyPlatformToken(one ?? "", token)).toBe(service);
      expect(verifyPlatformToken(other ?? "", token)).toBeUndefined();
      expect(verifyPlatformToken(one ?? "", token.replace(service, "ctl"))).toBeUndefined();
    }
    expect(new Set(platformServices.map((service) => platformToken(one ?? "", service))).size).toBe(6);
  });
});
