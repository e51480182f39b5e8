// The keys that decide who is believed: an issuer of one's own with its client, how its roles are read, and which login each
// service has on NATS. Half of a setting is refused, because whoever wrote it believes that it is in force.
import { describe, expect, it } from "vitest";
import { complaints, paths, valid } from "../../testkit/configuration/loading.ts";
import { complaintLine } from "./complaint.ts";
import { isBaseUrl, isIssuerUrl } from "./value-forms.ts";

const issuer = "https://login.example/realms/desk";

describe("identity", () => {
  it("without a word is the embedded provider", () => {
    const { configuration } = valid(undefined);
    expect(configuration.identity).toEqual({
      scopes: "openid profile offline_access",
      roles_claim: "roles",
      name_claim: "sub",
      role_names: {},
      access_token_s: 300,
      session_s: 43_200,
      signing_key_s: 2_592_000,
    });
    expect(configuration.http.base_url).toBeUndefined();
  });

  it("is set by the environment or by the file", () => {
    const environment = {
      PORTCULLIS_OIDC_ISSUER: issuer,
      PORTCULLIS_OIDC_CLIENT_ID: "portcullis",
      PORTCULLIS_OIDC_AUDIENCE: "portcullis-api",
      PORTCULLIS_OIDC_SCOPES: "openid groups",
      PORTCULLIS_OIDC_ROLES_CLAIM: "realm_access.roles",
      PORTCULLIS_OIDC_NAME_CLAIM: "preferred_username",
      PORTCULLIS_ACCESS_TOKEN_S: "60",
      PORTCULLIS_SESSION_S: "3600",
      PORTCULLIS_SIGNING_KEY_S: "86400",
    };
    const expected = {
      issuer,
      client_id: "portcullis",
      audience: "portcullis-api",
      scopes: "openid groups",
      roles_claim: "realm_access.roles",
      name_claim: "preferred_username",
      role_names: {},
      access_token_s: 60,
      session_s: 3_600,
      signing_key_s: 86_400,
    };
    expect(valid(undefined, environment).configuration.identity).toEqual(expected);
    const lines = Object.entries(expected).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`);
    expect(valid(`identity:\n${lines.join("\n")}\n`).configuration.identity).toEqual(expected);
  });

  it("wants a client with an issuer", () => {
    const [found, ...others] = complaints(undefined, { PORTCULLIS_OIDC_ISSUER: issuer });
    expect(others).toEqual([]);
    expect(found?.path).toBe("identity.client_id");
    expect(found?.expected).toContain("PORTCULLIS_OIDC_CLIENT_ID");
    expect(paths(undefined, { PORTCULLIS_OIDC_ISSUER: issuer, PORTCULLIS_OIDC_CLIENT_ID: "p" })).toEqual([]);
  });

  it("wants an issuer with a client or an audience", () => {
    const half = { PORTCULLIS_OIDC_CLIENT_ID: "p", PORTCULLIS_OIDC_AUDIENCE: "a" };
    const found = complaints(undefined, half);
    expect(found.map(({ path }) => path)).toEqual(["identity.client_id", "identity.audience"]);
    for (const { expected } of found) expect(expected).toContain("PORTCULLIS_OIDC_ISSUER");
    expect(paths("identity: {audience: a}")).toEqual(["identity.audience"]);
    expect(paths(undefined, { ...half, PORTCULLIS_OIDC_ISSUER: issuer })).toEqual([]);
  });

  it("maps the issuer's values to our roles, and to no others", () => {
    const map = (text: string) => `identity:\n  role_names:\n${text}`;
    const names = valid(map("    desk-operators: operator\n    'CN=Risk, OU=Desk': risk_officer\n")).configuration
      .identity;
    expect(names.role_names).toEqual({ "desk-operators": "operator", "CN=Risk, OU=Desk": "risk_officer" });
    expect(paths(map("    desk: root\n    other: viewer\n"))).toEqual(["identity.role_names.desk"]);
    expect(paths(map("    desk: [operator]\n"))).toEqual(["identity.role_names.desk"]);
    expect(paths("identity: {role_names: operator}")).toEqual(["identity.role_names"]);
  });

  it.each([
    [
      "PORTCULLIS_OIDC_ROLES_CLAIM",
      ["roles", "realm_access.roles", "https://x/roles"],
      ["", ".", "a.", ".a", "a..b", "a b"],
    ],
    ["PORTCULLIS_OIDC_NAME_CLAIM", ["sub", "email"], ["a.", "a b"]],
    ["PORTCULLIS_OIDC_SCOPES", ["openid", "openid groups"], [" openid", "openid  groups", 'open"id', "open\\id"]],
    ["PORTCULLIS_ACCESS_TOKEN_S", ["30", "3600"], ["29", "3601", "1.5"]],
    ["PORTCULLIS_SESSION_S", ["300", "2592000"], ["299", "2592001"]],
    ["PORTCULLIS_SIGNING_KEY_S", ["3600"], ["3599"]],
  ])("%s has its range", (variable, good, bad) => {
    for (const value of good) expect(paths(undefined, { [variable]: value }), value).toEqual([]);
    // An empty variable counts as not set.
    for (const value of bad.filter((each) => each !== ""))
      expect(paths(undefined, { [variable]: value }).length, value).toBe(1);
  });
});

describe("addresses", () => {
  it.each([
    [issuer, true],
    ["https://login.example", true],
    ["http://127.0.0.1:9090/oidc", true],
    ["http://localhost:9090", true],
    ["http://[::1]:9090", true],
    ["http://login.example", false],
    ["http://10.0.0.1/oidc", false],
    ["http://localhost.example", false],
    ["https://me:word@login.example", false],
    ["https://login.example/?tenant=a", false],
    ["https://login.example/#a", false],
    ["ftp://login.example", false],
    ["login.example", false],
    ["", false],
  ])("an issuer %s: %s", (text, accepted) => {
    expect(isIssuerUrl(text)).toBe(accepted);
    if (text === "") return;
    const environment = { PORTCULLIS_OIDC_ISSUER: text, PORTCULLIS_OIDC_CLIENT_ID: "p" };
    const found = complaints(undefined, environment);
    expect(found.map(({ path }) => path)).toEqual(accepted ? [] : ["identity.issuer"]);
  });

  it.each([
    ["https://portcullis.example", true],
    ["https://portcullis.example/", true],
    ["https://portcullis.example:8443", true],
    ["http://127.0.0.1:8080", true],
    ["https://portcullis.example/desk", false],
    ["https://portcullis.example/?a=1", false],
    ["https://portcullis.example/#a", false],
    ["https://me@portcullis.example", false],
    ["https://me:word@portcullis.example", false],
    ["HTTPS://portcullis.example", false],
    ["ftp://portcullis.example", false],
    ["portcullis.example", false],
  ])("a base address %s: %s", (text, accepted) => {
    expect(isBaseUrl(text)).toBe(accepted);
    expect(paths(undefined, { PORTCULLIS_BASE_URL: text })).toEqual(accepted ? [] : ["http.base_url"]);
  });
});

describe("logins on NATS", () => {
  it("are one for all or one for each service", () => {
    const folder = valid(undefined, { PORTCULLIS_BUS_CREDS_DIR: "/etc/portcullis/nats" }).configuration.bus;
    expect(folder).toMatchObject({ creds_dir: "/etc/portcullis/nats" });
    const [both, ...others] = complaints("bus: {creds_file: a.creds, creds_dir: nats}");
    expect(others).toEqual([]);
    expect(complaintLine(both ?? raise())).toMatch(/^bus\.creds_dir .*one login for all .*, not both$/);
  });
});

function raise(): never {
  throw new Error("the complaint is missing");
}
