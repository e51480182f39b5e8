// What was revoked is refused in time, and not knowing what is revoked is no yes.
import { expect } from "vitest";
import type { VerifierCheck } from "./verifier-fixture.ts";
import { refusedInTime, refuses } from "./verifier-kit.ts";

export const revocationChecks: readonly VerifierCheck[] = [
  {
    promise: 2,
    sentence: "a revoked token is refused in time, and its owner's others are not",
    async run(fixture) {
      const [one, other] = [
        await fixture.sign({ sub: "fred", jti: "j-one" }),
        await fixture.sign({ sub: "fred", jti: "j-two" }),
      ];
      const without = await fixture.sign({ sub: "fred", jti: null });
      for (const token of [one, other, without]) await fixture.verifier.verify(token);
      await fixture.revoke("token", (await fixture.verifier.verify(one)).tokenId);
      await fixture.revoke("token", (await fixture.verifier.verify(without)).tokenId);
      await refusedInTime(fixture, one);
      await refuses(fixture, without);
      await fixture.verifier.verify(other);
    },
  },
  {
    promise: 2,
    sentence: "a revoked session is refused in time, with every token of it, and no other",
    async run(fixture) {
      const ended = [
        await fixture.sign({ sub: "gina", sid: "g1" }),
        await fixture.sign({ sub: "gina", sid: "g1" }),
      ] as const;
      const going = await fixture.sign({ sub: "gina", sid: "g2" });
      await fixture.verifier.verify(ended[0]);
      await fixture.revoke("session", "g1");
      await refusedInTime(fixture, ended[0]);
      await refuses(fixture, ended[1]);
      await fixture.verifier.verify(going);
    },
  },
  {
    promise: 2,
    sentence: "a revoked person is refused in time, by subject or by name, and can log in again",
    async run(fixture) {
      for (const [sub, id] of [
        ["hans", `${fixture.issuer}|hans`],
        ["ines", "operator:ines"],
      ] as const) {
        const token = await fixture.sign({ sub });
        await fixture.verifier.verify(token);
        await fixture.revoke("subject", id);
        await refusedInTime(fixture, token);
        await fixture.verifier.verify(await fixture.sign({ sub: `${sub}-2` }));
        await fixture.passTime(10_000);
        await fixture.verifier.verify(await fixture.sign({ sub }));
        await refuses(fixture, token);
      }
    },
  },
  {
    promise: 2,
    sentence: "a token that was renewed after the revocation is refused when it goes back to a login from before",
    async run(fixture) {
      const { issuedAt } = await fixture.verifier.verify(await fixture.sign({ sub: "kurt" }));
      const loginS = issuedAt / 1_000_000;
      await fixture.verifier.verify(await fixture.sign({ sub: "kurt", auth_time: loginS }));
      await fixture.revoke("subject", `${fixture.issuer}|kurt`);
      await fixture.passTime(10_000);
      await refusedInTime(fixture, await fixture.sign({ sub: "kurt", auth_time: loginS }));
      await fixture.verifier.verify(await fixture.sign({ sub: "kurt", auth_time: loginS + 10 }));
    },
  },
  {
    promise: 2,
    sentence: "a store that is gone is IDENTITY_UNAVAILABLE after ten seconds, for what was accepted before as well",
    async run(fixture) {
      const token = await fixture.sign({ sub: "jana" });
      const machine = await fixture.serviceToken({ operations: ["GetEnvelope"], expiresInMs: 3_600_000 });
      await fixture.verifier.verify(token);
      const restore = await fixture.outage();
      try {
        await fixture.passTime(5_000);
        await fixture.verifier.verify(token);
        await fixture.passTime(7_000);
        for (const one of [token, machine.token, await fixture.sign({ sub: "jana" })]) {
          const fault = await refuses(fixture, one, "IDENTITY_UNAVAILABLE");
          expect(fault.retry).toBe("later");
        }
        expect(fixture.verifier.health().status).toBe("failing");
        await fixture.verifier.verify(fixture.platformToken("gateway"));
      } finally {
        await restore();
      }
      await fixture.passTime(0);
      expect(fixture.verifier.health()).toEqual({ status: "ok" });
      await fixture.verifier.verify(token);
    },
  },
];
