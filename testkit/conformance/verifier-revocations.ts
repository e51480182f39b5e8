// What was revoked is refused in time, and not knowing what is revoked is no yes.
import { expect } from "vitest";
import { refusedInTime, refuses } from "./verifier-kit.ts";
import type { VerifierCheck } from "./verifier-rig.ts";

export const revocationChecks: readonly VerifierCheck[] = [
  {
    promise: 2,
    sentence: "a revoked token is refused in time, and its owner's others are not",
    async run(rig) {
      const [one, other] = [
        await rig.sign({ sub: "fred", jti: "j-one" }),
        await rig.sign({ sub: "fred", jti: "j-two" }),
      ];
      const without = await rig.sign({ sub: "fred", jti: null });
      for (const token of [one, other, without]) await rig.verifier.verify(token);
      await rig.revoke("token", (await rig.verifier.verify(one)).tokenId);
      await rig.revoke("token", (await rig.verifier.verify(without)).tokenId);
      await refusedInTime(rig, one);
      await refuses(rig, without);
      await rig.verifier.verify(other);
    },
  },
  {
    promise: 2,
    sentence: "a revoked session is refused in time, with every token of it, and no other",
    async run(rig) {
      const ended = [await rig.sign({ sub: "gina", sid: "g1" }), await rig.sign({ sub: "gina", sid: "g1" })] as const;
      const going = await rig.sign({ sub: "gina", sid: "g2" });
      await rig.verifier.verify(ended[0]);
      await rig.revoke("session", "g1");
      await refusedInTime(rig, ended[0]);
      await refuses(rig, ended[1]);
      await rig.verifier.verify(going);
    },
  },
  {
    promise: 2,
    sentence: "a revoked person is refused in time, by subject or by name, and can log in again",
    async run(rig) {
      for (const [sub, id] of [
        ["hans", `${rig.issuer}|hans`],
        ["ines", "operator:ines"],
      ] as const) {
        const token = await rig.sign({ sub });
        await rig.verifier.verify(token);
        await rig.revoke("subject", id);
        await refusedInTime(rig, token);
        await rig.verifier.verify(await rig.sign({ sub: `${sub}-2` }));
        await rig.passTime(10_000);
        await rig.verifier.verify(await rig.sign({ sub }));
        await refuses(rig, token);
      }
    },
  },
  {
    promise: 2,
    sentence: "a token that was renewed after the revocation is refused when it goes back to a login from before",
    async run(rig) {
      const { issuedAt } = await rig.verifier.verify(await rig.sign({ sub: "kurt" }));
      const loginS = issuedAt / 1_000_000;
      await rig.verifier.verify(await rig.sign({ sub: "kurt", auth_time: loginS }));
      await rig.revoke("subject", `${rig.issuer}|kurt`);
      await rig.passTime(10_000);
      await refusedInTime(rig, await rig.sign({ sub: "kurt", auth_time: loginS }));
      await rig.verifier.verify(await rig.sign({ sub: "kurt", auth_time: loginS + 10 }));
    },
  },
  {
    promise: 2,
    sentence: "a store that is gone is IDENTITY_UNAVAILABLE after ten seconds, for what was accepted before as well",
    async run(rig) {
      const token = await rig.sign({ sub: "jana" });
      const machine = await rig.serviceToken({ operations: ["GetEnvelope"], expiresInMs: 3_600_000 });
      await rig.verifier.verify(token);
      const restore = await rig.outage();
      try {
        await rig.passTime(5_000);
        await rig.verifier.verify(token);
        await rig.passTime(7_000);
        for (const one of [token, machine.token, await rig.sign({ sub: "jana" })]) {
          const fault = await refuses(rig, one, "IDENTITY_UNAVAILABLE");
          expect(fault.retry).toBe("later");
        }
        expect(rig.verifier.health().status).toBe("failing");
        await rig.verifier.verify(rig.platformToken("gateway"));
      } finally {
        await restore();
      }
      await rig.passTime(0);
      expect(rig.verifier.health()).toEqual({ status: "ok" });
      await rig.verifier.verify(token);
    },
  },
];
