// Tokens of machines and of our own processes, and what is no token at all.
import { randomBytes, randomUUID } from "node:crypto";
import { expect } from "vitest";
import { platformOperations } from "../../contracts/src/authority.ts";
import type { VerifierCheck } from "./verifier-fixture.ts";
import { encoded, refusedInTime, refuses } from "./verifier-kit.ts";

export const machineChecks: readonly VerifierCheck[] = [
  {
    promise: 1,
    sentence: "a service token works at once, narrowed to its operations, until it runs out",
    async run(fixture) {
      const { id, name, token } = await fixture.serviceToken({ operations: ["CheckOrder"], expiresInMs: 60_000 });
      const identity = await fixture.verifier.verify(token);
      expect(identity).toMatchObject({ kind: "service", name, actor: `service:${name}`, subject: `service:${name}` });
      expect([identity.roles, identity.operations, identity.tokenId]).toEqual([["service"], ["CheckOrder"], id]);
      await fixture.passTime(61_000);
      await refuses(fixture, token);
    },
  },
  {
    promise: 1,
    sentence: "a service token carries the funds that it names, and none when it may speak of every fund",
    async run(fixture) {
      const about = { operations: ["CheckOrder"], expiresInMs: 60_000 } as const;
      const one = await fixture.serviceToken({ ...about, funds: ["harbor"] });
      const every = await fixture.serviceToken(about);
      expect((await fixture.verifier.verify(one.token)).funds).toEqual(["harbor"]);
      expect(await fixture.verifier.verify(every.token)).not.toHaveProperty("funds");
    },
  },
  {
    promise: 2,
    sentence: "a revoked service token is refused in time",
    async run(fixture) {
      const { id, token } = await fixture.serviceToken({ operations: ["CheckOrder"], expiresInMs: 60_000 });
      await fixture.verifier.verify(token);
      await fixture.revokeServiceToken(id);
      await refusedInTime(fixture, token);
    },
  },
  {
    promise: 1,
    sentence: "a service token with a wrong secret or an unknown id is refused in the same words",
    async run(fixture) {
      const { id, token } = await fixture.serviceToken({ operations: ["CheckOrder"], expiresInMs: 60_000 });
      const secret = randomBytes(32).toString("base64url");
      const wrong = await refuses(fixture, `pcs_${id}_${secret}`);
      const unknown = await refuses(fixture, `pcs_${randomBytes(12).toString("hex")}_${secret}`);
      expect(wrong.message).toBe(unknown.message);
      for (const bad of [`pcs_${id}_`, `pcs_${id}`, "pcs_", `pcs__${secret}`, `${token}A`, token.slice(0, -1)]) {
        await refuses(fixture, bad);
      }
    },
  },
  {
    promise: 1,
    sentence:
      "a token of our own processes opens what that process asks of others and nothing else; a forged one nothing",
    async run(fixture) {
      const token = fixture.platformToken("gateway");
      const identity = await fixture.verifier.verify(token);
      expect(identity).toMatchObject({
        kind: "service",
        actor: "service:gateway",
        operations: platformOperations.gateway,
      });
      const [, , ends = "", mac = ""] = token.split("_");
      for (const forged of [
        `pci_riskengine_${ends}_${mac}`,
        `pci_gateway_${ends}_${mac.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))}`,
        `pci_gateway_${ends}_${randomBytes(32).toString("hex")}`,
        `pci_gateway_${ends}_${mac.toUpperCase()}`,
        `pci_somebody_${ends}_${mac}`,
        `pci_gateway_${Number(ends) + 60}_${mac}`,
        `pci_gateway_${mac}`,
        `pci_gateway_${ends}_${mac}00`,
        "pci_gateway_",
        "pci_",
      ]) {
        await refuses(fixture, forged);
      }
    },
  },
  {
    promise: 3,
    sentence: "what is no token at all is refused, whatever it is",
    async run(fixture) {
      const garbage = [
        "",
        " ",
        ".",
        "..",
        "...",
        "a.b.c",
        "null",
        `Bearer ${await fixture.sign()}`,
        ` ${await fixture.sign()}`,
        `${await fixture.sign()}\n`,
        `${encoded({ alg: fixture.algorithm })}.${encoded([])}.AAAA`,
        `${encoded([])}.${encoded({})}.AAAA`,
        `${encoded({ alg: fixture.algorithm, kid: 7, typ: 9 })}.${encoded({})}.AAAA`,
        `${encoded({ alg: fixture.algorithm, kid: "__proto__", typ: "at+jwt" })}.${encoded({ iss: fixture.issuer })}.AAAA`,
        "tökén.mit.umlaut",
        "\u0000",
        "\ud800",
        "🔑",
        "A".repeat(10_000_000),
        `${".".repeat(8_000)}`,
        randomUUID(),
      ];
      for (const token of garbage) await refuses(fixture, token);
      for (const token of Array.from({ length: 50 }, () => randomBytes(40).toString("latin1")))
        await refuses(fixture, token);
      await refuses(fixture, await fixture.sign({ filler: "x".repeat(20_000) }));
    },
  },
];
