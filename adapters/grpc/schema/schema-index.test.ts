// Our reflection against the official implementation: every symbol that it knows is in a file of the same name here, with everything that this file needs, and
// the schema of the health service is the published one.
import { ReflectionService } from "@grpc/reflection";
import { describe, expect, it } from "vitest";
import { healthPackage } from "../../../testkit/grpc/health-package.ts";
import { descriptorFiles } from "../definitions.ts";
import { eachField } from "../descriptor-set.ts";
import { healthFile } from "./health-file.ts";
import { answerAbout } from "./schema-answers.ts";
import { schemaIndex } from "./schema-index.ts";

const files = [...descriptorFiles, healthFile];
const index = schemaIndex(files);

interface Official {
  readonly symbols: Readonly<Record<string, { readonly name: string }>>;
  readonly extensions: Readonly<Record<string, Readonly<Record<number, { readonly name: string }>>>>;
}

function officialOf(given: readonly Uint8Array[]): Official {
  const described = { all: { format: "", type: {}, fileDescriptorProtos: given.map((file) => Buffer.from(file)) } };
  const service = new ReflectionService(described as never) as unknown as { readonly v1: Official };
  return service.v1;
}

function partsOf(bytes: Uint8Array): { readonly name: string; readonly imports: readonly string[] } {
  const [texts, imports]: [string[], string[]] = [[], []];
  eachField(bytes, (number, reader) => {
    if (number === 1) texts.push(reader.string());
    else if (number === 3) imports.push(reader.string());
    else return false;
    return true;
  });
  return { name: texts[0] ?? "", imports };
}

const nameOf = (bytes: Uint8Array | undefined): string => (bytes === undefined ? "" : partsOf(bytes).name);

describe("the index of the schema", () => {
  const official = officialOf(files);

  it("knows every symbol that the official implementation knows, in the same file", () => {
    const expected = Object.entries(official.symbols).map(([symbol, { name }]) => [symbol, name]);
    expect(expected.length).toBeGreaterThan(2_000);
    expect(expected.map(([symbol = ""]) => [symbol, nameOf(index.bySymbol(symbol)?.[0])])).toEqual(expected);
  });

  it("knows every extension, of a message by its plain name", () => {
    const known = Object.entries(official.extensions).flatMap(([extended, numbers]) =>
      Object.entries(numbers).map(([number, { name }]) => [extended.replace(/^\./, ""), Number(number), name] as const),
    );
    expect(known.length).toBeGreaterThan(0);
    for (const [extended, number, name] of known) {
      expect(nameOf(index.byExtension(extended, number)?.[0])).toBe(name);
      expect(index.extensionsOf(extended)).toContain(number);
    }
  });

  it("hands out a file with all that it imports, each once", () => {
    for (const { name } of files.map(partsOf)) {
      const given = (index.byName(name) ?? []).map(partsOf);
      const names = given.map((one) => one.name);
      expect(names[0]).toBe(name);
      expect(new Set(names).size).toBe(names.length);
      expect(given.flatMap(({ imports }) => imports).filter((one) => !names.includes(one))).toEqual([]);
    }
  });

  it.each(["svc.v1.Order.nothing", "svc.v1", "", "constructor"])("has no symbol %j", (symbol) => {
    expect(index.bySymbol(symbol)).toBeUndefined();
  });

  it("names what the published health service has", () => {
    const published = healthPackage()["grpc.health.v1.Health"] as unknown as object;
    expect(Object.keys(published)).toEqual(["Check", "Watch"]);
    const loaded = officialOf(
      Object.values(healthPackage()).flatMap(
        (one) => (one as { readonly fileDescriptorProtos?: readonly Uint8Array[] }).fileDescriptorProtos ?? [],
      ),
    );
    const symbols = Object.keys(loaded.symbols).toSorted();
    expect(symbols.length).toBeGreaterThan(6);
    expect(Object.keys(officialOf([healthFile]).symbols).toSorted()).toEqual(symbols);
  });
});

describe("an answer", () => {
  const ask = (number: number, text: string): Buffer =>
    answerAbout(index, [], Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]));
  const membersOf = (bytes: Uint8Array): readonly number[] => {
    const members: number[] = [];
    eachField(bytes, (number) => {
      members.push(number);
      return false;
    });
    return members;
  };

  it.each([
    ["a file", 3, "svc/v1/nothing.proto", 7],
    ["a symbol", 4, "svc.v1.Order", 4],
    ["a symbol that there is not", 4, "svc.v1.Nothing", 7],
    ["extensions", 6, "google.protobuf.MethodOptions", 5],
    ["services", 7, "*", 6],
    ["nothing in particular", 1, "a host", 7],
  ])("about %s repeats the question and has one answer", (_what, number, text, member) => {
    expect(membersOf(ask(number, text)).filter((one) => one !== 1)).toEqual([2, member]);
  });
});
