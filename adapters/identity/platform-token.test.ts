// The platform key is made once, whoever starts first, and its tokens are nobody else's.
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import { ownProcesses } from "../../contracts/src/platform-services.ts";
import { memorySecrets } from "../../testkit/identity/test-secrets.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import {
  createPlatformTokens,
  isPlatformTokenTimely,
  openPlatformKey,
  platformToken,
  readPlatformToken,
} from "./platform-token.ts";

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
    const end = fromUnixMs(1_800_000_000_000);
    for (const service of ownProcesses) {
      const token = platformToken(one ?? "", service, end);
      expect(token).toMatch(new RegExp(`^pci_${service}_1800000000_[0-9a-f]{64}$`));
      expect(readPlatformToken(one ?? "", token)).toEqual({ service, expiresAt: end });
      expect(readPlatformToken(other ?? "", token)).toBeUndefined();
      expect(readPlatformToken(one ?? "", token.replace(service, "ctl"))).toBeUndefined();
      expect(readPlatformToken(one ?? "", token.replace("1800000000", "1800000001"))).toBeUndefined();
    }
    expect(new Set(ownProcesses.map((service) => platformToken(one ?? "", service, end))).size).toBe(8);
  });

  it("holds for 15 minutes, is made anew five minutes after it was made, and when the clock was set back", async () => {
    const key = await openPlatformKey(memorySecrets(), "desk", prng(1));
    let nowMs = 1_800_000_000_000;
    const now = () => fromUnixMs(nowMs);
    const tokens = createPlatformTokens(key, { now });
    const first = tokens("oms");
    const read = readPlatformToken(key, first);
    expect(read?.expiresAt).toBe(fromUnixMs(nowMs + 900_000));
    nowMs += 299_000;
    expect(tokens("oms")).toBe(first);
    nowMs += 2_000;
    const second = tokens("oms");
    expect(second).not.toBe(first);
    const timely = (atMs: number): boolean => read !== undefined && isPlatformTokenTimely(read, fromUnixMs(atMs));
    // A minute more on either side, because two machines' clocks are never the same.
    expect([-61_000, -59_000, 959_000, 961_000].map((ms) => timely(1_800_000_000_000 + ms))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    nowMs -= 3_600_000;
    expect(readPlatformToken(key, tokens("oms"))?.expiresAt).toBe(fromUnixMs(nowMs + 900_000));
  });
});
