// Values that would be refused later, or understood otherwise by another program, are refused before anything starts.
import { describe, expect, it } from "vitest";
import { complaints, paths, valid } from "../../testkit/configuration/loading.ts";
import { baseAddress } from "../vault/vault-http.ts";
import { complaintLine } from "./complaint.ts";
import { hostsOverlap, isVaultAddress } from "./value-forms.ts";

describe("a trusted proxy", () => {
  const proxies = (text: string) => ({ PORTCULLIS_TRUSTED_PROXIES: text });

  it("is an address or a range, one or several", () => {
    const given = "10.0.0.7, 192.0.2.0/24,2001:db8::/32,::1";
    expect(valid(undefined, proxies(given)).configuration.http.trusted_proxies).toEqual([
      "10.0.0.7",
      "192.0.2.0/24",
      "2001:db8::/32",
      "::1",
    ]);
    expect(valid("http: {trusted_proxies: [10.0.0.7]}").configuration.http.trusted_proxies).toEqual(["10.0.0.7"]);
    expect(valid(undefined).configuration.http.trusted_proxies).toEqual([]);
  });

  it.each([
    "proxy.example",
    "loopback",
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0/8",
    "10.0.0.1/8/8",
    "fe80::1%eth0",
  ])("is not %s", (text) => {
    expect(paths(undefined, proxies(text))).toEqual(["http.trusted_proxies[0]"]);
  });
});

describe("a path", () => {
  const variables = [
    ["PORTCULLIS_DATA_DIR", "data_dir"],
    ["PORTCULLIS_SECRETS_FILE", "secrets.file"],
    ["PORTCULLIS_SECRETS_KEY_FILE", "secrets.key_file"],
    ["PORTCULLIS_BUS_CREDS_FILE", "bus.creds_file"],
    ["PORTCULLIS_BUS_CREDS_DIR", "bus.creds_dir"],
    ["PORTCULLIS_BUS_TLS_CA_FILE", "bus.tls_ca_file"],
  ] as const;

  it.each(variables)("in %s is written out and has no control characters", (variable, path) => {
    for (const value of ["~", "~/data", "~me/data", "/srv/a\nport = 1", "/srv/\u0000", "/srv/\u001b[2J", "/a\u2028b"]) {
      const found = complaints(undefined, { [variable]: value });
      expect(found.map((complaint) => complaint.path)).toEqual([path]);
      expect(found[0]?.expected).toMatch(/written out: no `~` in front, no control characters$/);
      expect(complaintLine(found[0] ?? raise())).not.toMatch(/\p{Cc}/u);
    }
    for (const value of ["data", "./~", "/srv/a~b", "/srv/with space/ü"])
      expect(paths(undefined, { [variable]: value })).toEqual([]);
  });

  it("in the file is held to the same", () => {
    expect(paths('data_dir: ~/data\nsecrets: {file: "a\\nb", key_file: ~/key}\n')).toEqual([
      "data_dir",
      "secrets.file",
      "secrets.key_file",
    ]);
  });
});

it("a passphrase has 12 characters at least, and is not shown when it has fewer", () => {
  const [short, ...others] = complaints(undefined, { PORTCULLIS_SECRETS_PASSPHRASE: "elevenchars" });
  expect(others).toEqual([]);
  expect(complaintLine(short ?? raise())).toBe(
    "secrets.passphrase (environment PORTCULLIS_SECRETS_PASSPHRASE): found (not shown), expected text of 12 to 1024 characters",
  );
  expect(paths(undefined, { PORTCULLIS_SECRETS_PASSPHRASE: "twelve chars" })).toEqual([]);
});

describe("Vault's address", () => {
  it.each([
    "https://vault.example:8200",
    "https://vault.example/prefix/",
    "http://127.0.0.1:8200",
    "http://127.9.9.9",
    "http://localhost:8200",
    "http://[::1]:8200",
    "http://vault.example:8200",
    "http://10.0.0.1:8200",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "https://me:word@vault.example",
    "https://vault.example/?a=1",
    "https://vault.example/#a",
    "ftp://vault.example",
    "vault.example",
  ])("%s is judged as the adapter will judge it", (address) => {
    let accepted = true;
    try {
      baseAddress(address, false);
    } catch {
      accepted = false;
    }
    expect(isVaultAddress(address)).toBe(accepted);
    expect(paths(undefined, { PORTCULLIS_VAULT_ADDR: address })).toEqual(accepted ? [] : ["secrets.vault.addr"]);
  });
});

it.each<[left: string, right: string, overlap: boolean]>([
  ["127.0.0.1", "127.0.0.1", true],
  ["db.example", "DB.example", true],
  ["[::1]", "::1", true],
  ["127.0.0.1", "localhost", true],
  ["localhost", "::1", true],
  ["0.0.0.0", "127.0.0.1", true],
  ["::", "127.0.0.1", true],
  ["::", "0.0.0.0", true],
  ["0.0.0.0", "::1", false],
  ["127.0.0.1", "127.0.0.2", false],
  ["127.0.0.1", "::1", false],
  ["10.0.0.1", "10.0.0.2", false],
])("%s and %s share their ports: %s", (left, right, overlap) => {
  expect([hostsOverlap(left, right), hostsOverlap(right, left)]).toEqual([overlap, overlap]);
});

function raise(): never {
  throw new Error("the complaint is missing");
}
