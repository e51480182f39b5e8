// The platform key is made once, whoever starts first, and its tokens are nobody else's.
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { platformServices } from "../../contracts/src/platform-services.ts";
import { memorySecrets } from "../../testkit/identity/test-secrets.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { openPlatformKey, platformToken, verifyPlatformToken } from "./platform-token.ts";

const path = "secret/desk/identity/platform-key";

describe("platform token", () => {
  it("of many processes that start at once, all end up with the same key, also after a restart", async () => {
    const secrets = memorySecrets();
    const openings = Array.from({ length: 6 }, (_, n) => openPlatformKey(secrets, "desk", prng(n)));
    const keys = new Set(await Promise.all(openings));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await secrets.get(path))?.version).toBe(1);
    expect(await openPlatformKey(secrets, "desk", prng(99))).toBe([...keys][0]);
  });

  it("a key that is none is a fault that does not tell it; other faults pass through", async () => {
    const secrets = memorySecrets();
    await secrets.put(path, "hunter2");
    const thrown = await openPlatformKey(secrets, "desk", prng(1)).catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ code: "SECRETS_CORRUPT" });
    expect(String(thrown)).not.toContain("hunter2");
    const away = {
      ...secrets,
      get: () => Promise.reject(new Fault("SECRETS_UNAVAILABLE", "away", { retry: "later" })),
    };
    await expect(openPlatformKey(away, "desk", prng(1))).rejects.toMatchObject({ code: "SECRETS_UNAVAILABLE" });
  });

  it("each service has its own, and only the key that made it verifies it", async () => {
    const [one, other] = await Promise.all([1, 2].map((seed) => openPlatformKey(memorySecrets(), "desk", prng(seed))));
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
