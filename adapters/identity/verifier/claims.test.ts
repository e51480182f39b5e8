// From claims to an identity: where roles and names stand, and what is not let into records.
import { describe, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import { hashOf } from "../sealing.ts";
import { type ClaimRules, identityOf } from "./claims.ts";

const usual = { iss: "https://login.example", sub: "0815", iat: 1_000, exp: 2_000 };
const plain: ClaimRules = { rolesClaim: "roles", nameClaim: "sub", roleNames: {} };
const rolesWith = (claims: Record<string, unknown>, rules: Partial<ClaimRules>) =>
  identityOf("token", { ...usual, ...claims }, { ...plain, ...rules }).roles;

describe("claims", () => {
  it("finds roles under a name, behind dots, and under a name with dots in it", () => {
    const nested = { realm_access: { roles: ["admin", "offline_access"] } };
    expect(rolesWith(nested, { rolesClaim: "realm_access.roles" })).toEqual(["admin"]);
    const address = "https://desk.example/roles";
    expect(rolesWith({ [address]: ["viewer"] }, { rolesClaim: address })).toEqual(["viewer"]);
    expect(rolesWith({ roles: "operator" }, {})).toEqual(["operator"]);
    for (const rolesClaim of ["realm_access", "realm_access.none.roles", "__proto__.roles", "constructor.name"]) {
      expect(rolesWith(nested, { rolesClaim })).toEqual([]);
    }
  });

  it("maps values when there is a map, and then only mapped ones count", () => {
    const roleNames = { "Desk Operators": "operator", bosses: "risk_officer" } as const;
    const roles = ["Desk Operators", "admin", "bosses", "toString", 5, null];
    expect(rolesWith({ roles }, { roleNames })).toEqual(["operator", "risk_officer"]);
    expect(rolesWith({ roles: Array.from({ length: 100_000 }, () => "viewer") }, {})).toEqual(["viewer"]);
  });

  it("names people by the claim, tells them apart by issuer and sub, and refuses a token without a usable name", () => {
    const rules = { ...plain, nameClaim: "profile.login" };
    const anna = identityOf("token", { ...usual, profile: { login: "anna" } }, rules);
    expect(anna).toMatchObject({ name: "anna", actor: "operator:anna", subject: "https://login.example|0815" });
    for (const login of [
      ...[undefined, "", 7, "two\nlines", "x".repeat(500), "\u001b[31mred", "line\u2028break"],
      ...[
        " ",
        "\u00a0\u3000",
        "du\u200bty",
        "\u202eytud",
        "\ufeffduty",
        "du\u00adty",
        "duty\ud800",
        "\udc00",
        "e\u0301va",
      ],
    ]) {
      expect(() => identityOf("token", { ...usual, profile: { login } }, rules), JSON.stringify(login)).toThrow(Fault);
    }
    for (const login of ["\u00e9va", "Anna Maria", "\u{1f600}"]) {
      expect(identityOf("token", { ...usual, profile: { login } }, rules).name).toBe(login);
    }
    expect(() => identityOf("token", { ...usual, sub: "a\ud800" }, { ...plain, nameClaim: "iss" })).toThrow(Fault);
  });

  it("takes jti as the token's id, and the hash of what was signed when there is none that can be kept", () => {
    expect(identityOf("token", { ...usual, jti: "j" }, plain).tokenId).toBe("j");
    for (const jti of [undefined, "", "x".repeat(300), "a\u0000b"]) {
      for (const signature of ["one", "another"]) {
        const claims = { ...usual, ...(jti === undefined ? {} : { jti }) };
        expect(identityOf(`header.payload.${signature}`, claims, plain).tokenId).toBe(hashOf("header.payload"));
      }
    }
    expect(identityOf("token", { ...usual, sid: 5 }, plain).sessionId).toBeUndefined();
  });
});
