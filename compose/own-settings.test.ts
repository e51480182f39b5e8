// What a service's process is handed of the secrets in the settings.
import { describe, expect, it } from "vitest";
import { type KeyNode, keyTree } from "../adapters/configuration/schema-tree.ts";
import { platformServices } from "../contracts/src/platform-services.ts";
import { valid } from "../testkit/configuration/loading.ts";
import { secretReaders, settingsFor } from "./own-settings.ts";

function secretPaths(node: KeyNode, path: readonly string[]): readonly string[] {
  const own = node.facts?.secrecy === undefined ? [] : [path.join(".")];
  return [...own, ...[...node.children].flatMap(([name, child]) => secretPaths(child, [...path, name]))];
}

describe("28.7: the settings of a process", () => {
  it("have a reader, or nobody, named for every key that is secret", () => {
    expect(secretPaths(keyTree, []).toSorted()).toEqual(Object.keys(secretReaders).toSorted());
  });

  it("leave out the owner's login, other services' logins and keys that are another's", () => {
    const environment = {
      PORTCULLIS_DATABASE_URL: "postgres://owner:ownerword@db.example/books",
      PORTCULLIS_DATABASE_APP_URL: "postgres://app:appword@db.example/books",
      PORTCULLIS_DATABASE_LOGINS_OMS: "postgres://oms:omsword@db.example/books",
      PORTCULLIS_LANGUAGE_MODEL_PROVIDER: "openai",
      PORTCULLIS_LANGUAGE_MODEL: "m",
      PORTCULLIS_LANGUAGE_MODEL_KEY: "modelword",
      PORTCULLIS_AUDIT_ANCHOR_DATABASE_URL: "postgres://anchor:anchorword@db.example/anchors",
      PORTCULLIS_SECRETS_PASSPHRASE: "a long passphrase",
    };
    const { configuration } = valid(undefined, environment);
    const words = (service: (typeof platformServices)[number]): readonly string[] =>
      ["ownerword", "appword", "omsword", "modelword", "anchorword", "a long passphrase"].filter((word) =>
        JSON.stringify(settingsFor([service], configuration)).includes(word),
      );
    expect(Object.fromEntries(platformServices.map((service) => [service, words(service)]))).toEqual({
      riskengine: ["modelword", "a long passphrase"],
      operations: ["modelword", "anchorword", "a long passphrase"],
      oms: ["a long passphrase"],
      treasury: ["a long passphrase"],
      research: ["a long passphrase"],
      gateway: ["modelword", "a long passphrase"],
    });
    expect(settingsFor(["oms"], configuration).database).toMatchObject({ url: "postgres://db.example", logins: {} });
    expect(configuration.database.url).toContain("ownerword");
  });

  it("say as before whether the database is the embedded one", () => {
    expect(settingsFor(["oms"], valid(undefined).configuration).database.url).toBeUndefined();
  });
});
