// Signed notes against the published examples, and against everything that is almost one.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { logSigner, type Signer, sha256, signerOf, verifySignature, witnessSigner } from "../../testkit/audit/keys.ts";
import { mutated } from "../../testkit/audit/mutated.ts";
import { inputCount } from "../../testkit/full-count.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { decodeBase64, encodeBase64, readDecimal, readUtf8 } from "./base64.ts";
import {
  type Note,
  openNote,
  readNote,
  readVerifierKey,
  signatureLine,
  signNote,
  type VerifierKey,
} from "./signed-note.ts";

const seed = 20_261_115;

interface GoldenNote {
  readonly what: string;
  readonly vkey: string;
  readonly note: string;
  readonly seed?: string;
}
const golden = JSON.parse(
  readFileSync(new URL("./golden/signed-notes.json", import.meta.url), "utf8"),
) as readonly GoldenNote[];

function keyOf(vkey: string): VerifierKey {
  const key = readVerifierKey(vkey, sha256);
  if (key === undefined) throw new Error(`${vkey} is not a key`);
  return key;
}

function noteOf(content: string): Note {
  const note = readNote(content);
  if ("malformed" in note) throw new Error(note.malformed);
  return note;
}

function kindOf(content: string, ...keys: VerifierKey[]): string {
  const note = readNote(content);
  return "malformed" in note ? "malformed" : openNote(note, keys, verifySignature).kind;
}

const text = "first line\nsecond line\n";
const ada = logSigner("example.org/ada", 7);
const bob = logSigner("example.org/bob", 8);
const signed = signNote(text, [ada]);

describe("the published notes", () => {
  it.each(golden)("$what verifies under its vkey", ({ vkey, note }) => {
    expect(kindOf(note, keyOf(vkey))).toBe("opened");
    expect(keyOf(vkey).vkey).toBe(vkey);
  });

  it.each(golden)("$what, one bit changed anywhere in the text, does not", ({ vkey, note }) => {
    const key = keyOf(vkey);
    const bytes = new TextEncoder().encode(note);
    const end = new TextEncoder().encode(noteOf(note).text).length;
    for (let at = 0; at < end; at += 1) {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      const content = readUtf8(flipped);
      if (content !== undefined) expect(kindOf(content, key)).not.toBe("opened");
    }
  });

  it("comes out the same to the byte when it is signed again with the published seed", () => {
    const again = golden.filter((each) => each.seed !== undefined);
    expect(again.length).toBeGreaterThan(0);
    for (const { vkey, note, seed: secret = "" } of again) {
      const signer = signerOf(keyOf(vkey).name, 1, Buffer.from(secret, "base64"));
      expect(signer.key.vkey).toBe(vkey);
      expect(signNote(noteOf(note).text, [signer])).toBe(note);
    }
  });
});

describe("vkeys", () => {
  it("any change to a vkey makes it none", () => {
    const { vkey } = ada.key;
    for (let at = 0; at <= vkey.length; at += 1) {
      expect(readVerifierKey(vkey.slice(0, at) + vkey.slice(at + 1), sha256), `without ${at}`).toEqual(
        at === vkey.length ? ada.key : undefined,
      );
      const next = String.fromCharCode(vkey.charCodeAt(at) + 1);
      if (at < vkey.length)
        expect(readVerifierKey(vkey.slice(0, at) + next + vkey.slice(at + 1), sha256)).toBeUndefined();
    }
  });

  it.each(["", "+", "a+b", " name+00000000+AQ==", `${ada.key.vkey}\n`, ada.key.vkey.toUpperCase()])(
    "%j is none",
    (vkey) => {
      expect(readVerifierKey(vkey, sha256)).toBeUndefined();
    },
  );

  it("a key of a type that we do not know is none", () => {
    const odd = signerOf("example.org/odd", 2 as 1, Buffer.alloc(32, 9));
    expect(readVerifierKey(odd.key.vkey, sha256)).toBeUndefined();
  });

  it.each(["a b", "a+b", "", "a\u00a0b", "a\u2003b", "a\u0085b", "a\tb", "a\ud800", "x".repeat(257)])(
    "%j names no key",
    (name) => {
      expect(() => logSigner(name, 1)).toThrow(RangeError);
    },
  );
});

describe("A18: a note", () => {
  it("with a known key's bad signature is refused, even beside a good one", () => {
    const bad = signatureLine(bob.key, ada.sign(new TextEncoder().encode(text)));
    expect(kindOf(signed + bad, ada.key, bob.key)).toBe("bad signature");
    expect(kindOf(`${text}\n${bad}${signed.slice(text.length + 1)}`, ada.key, bob.key)).toBe("bad signature");
  });

  it("with an unknown key's signature is read as if it were not there", () => {
    const both = signNote(text, [bob, ada]);
    expect(kindOf(both, ada.key)).toBe("opened");
    expect(openNote(noteOf(both), [ada.key], verifySignature)).toEqual({ kind: "opened", signedBy: [ada.key] });
  });

  it("that only unknown keys signed says nothing", () => {
    expect(kindOf(signed, bob.key)).toBe("no known key");
    expect(kindOf(signed)).toBe("no known key");
  });

  it("of another key under the same name is unknown, and so is one of the same id under another name", () => {
    const namesake = logSigner(ada.key.name, 99);
    expect(kindOf(signNote(text, [namesake]), ada.key)).toBe("no known key");
    expect(kindOf(signNote(text, [{ ...ada, key: { ...ada.key, name: "example.org/eve" } }]), ada.key)).toBe(
      "no known key",
    );
  });

  it("of a key whose id collides with a known one of the same name is refused", () => {
    const eve: Signer = { key: { ...ada.key }, sign: logSigner(ada.key.name, 99).sign };
    expect(kindOf(signNote(text, [eve]), ada.key)).toBe("bad signature");
    expect(kindOf(signNote(text, [ada, eve]), ada.key)).toBe("bad signature");
  });

  it("with a signature of another length under a known key is refused", () => {
    const short = ada.sign(new TextEncoder().encode(text)).subarray(0, 63);
    const content = `${text}\n${signatureLine(ada.key, short)}`;
    expect(kindOf(content, ada.key)).toBe("bad signature");
    // Not even for a verifier that is not careful about lengths.
    expect(openNote(noteOf(content), [ada.key], () => true).kind).toBe("bad signature");
  });

  it("counts a key of type 4 never as a signature of the text itself", () => {
    const witness = witnessSigner("example.org/w", 5);
    expect(kindOf(signNote(text, [witness]), witness.key)).toBe("no known key");
  });

  it("with 16 signatures, and with 100, is read; with 101 it is not", () => {
    const many = (count: number) => signNote(text, [...Array(count - 1).fill(bob), ada]);
    expect(kindOf(many(16), ada.key)).toBe("opened");
    expect(kindOf(many(100), ada.key)).toBe("opened");
    expect(kindOf(many(101), ada.key)).toBe("malformed");
  });

  it("may have empty lines in its text: the last empty line parts it", () => {
    const poem = "one\n\n\ntwo\n";
    expect(noteOf(signNote(poem, [ada])).text).toBe(poem);
    expect(kindOf(signNote(poem, [ada]), ada.key)).toBe("opened");
  });

  const line = signed.slice(text.length + 1);
  it.each([
    ["nothing", ""],
    ["only a line feed", "\n"],
    ["no text", `\n${line}`],
    ["no text but an empty line", `\n\n${line}`],
    ["no signature", `${text}\n`],
    ["no empty line", `${text}${line}`],
    ["no line feed at the end", signed.slice(0, -1)],
    ["another character for the line feed at the end", `${signed.slice(0, -1)}x`],
    ["an empty line at the end", `${signed}\n`],
    ["a carriage return", signed.replace("\n", "\r\n")],
    ["a tab", signed.replace("first line", "first\tline")],
    ["a zero byte", signed.replace("first", "first\0")],
    ["a lone surrogate", signed.replace("first", "first\ud83d")],
    ["a line between the signatures", `${signed}hello\n`],
    ["a hyphen for the dash", signed.replace("\u2014", "-")],
    ["two spaces after the dash", signed.replace("\u2014 ", "\u2014  ")],
    ["a space after the signature", `${signed.slice(0, -1)} \n`],
    ["base64 without padding", signed.replace("=\n", "\n")],
    ["base64 with bits left over", withLastDigitChanged(signed)],
    ["base64 of the web's alphabet", signed.replace(/.=\n$/, "_=\n")],
    ["a signature of nothing but the key id", `${text}\n\u2014 example.org/ada AAAAAA==\n`],
    ["too many characters", `${"x".repeat(600_000)}\n\n${line}`],
  ])("with %s is none", (_, content) => {
    expect(kindOf(content, ada.key)).toBe("malformed");
  });

  it("is not made of a text that could not be read again", () => {
    for (const bad of ["", "\n", "no end", "a\tb\n", "a\ud800\n"])
      expect(() => signNote(bad, [ada])).toThrow(RangeError);
    expect(() => signNote(text, [])).toThrow(RangeError);
  });
});

/** The last digit before the padding carries two bits that no byte uses. */
function withLastDigitChanged(content: string): string {
  const at = content.lastIndexOf("=") - 1;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return content.slice(0, at) + alphabet.charAt(alphabet.indexOf(content.charAt(at)) + 1) + content.slice(at + 1);
}

describe("any bytes", () => {
  it(`random mutations of a note never verify as another text (seed ${seed})`, () => {
    const random = prng(seed);
    const bytes = new TextEncoder().encode(signNote(text, [ada, bob]));
    let read = 0;
    const rounds = inputCount(3_000);
    for (let round = 0; round < rounds; round += 1) {
      const content = readUtf8(mutated(bytes, random)) ?? "";
      const note = readNote(content);
      if ("malformed" in note) continue;
      read += 1;
      if (openNote(note, [ada.key, bob.key], verifySignature).kind === "opened") expect(note.text).toBe(text);
    }
    expect(read).toBeGreaterThan(rounds / 10);
  });

  it(`base64 has one text for every bytes, and one bytes for every text (seed ${seed})`, () => {
    const random = prng(seed);
    for (let round = 0; round < inputCount(2_000); round += 1) {
      const bytes = random.bytes(random.below(70));
      const encoded = encodeBase64(bytes);
      expect(encoded).toBe(Buffer.from(bytes).toString("base64"));
      expect(decodeBase64(encoded)).toEqual(bytes);
      const other = readUtf8(mutated(new TextEncoder().encode(encoded), random)) ?? "*";
      const decoded = decodeBase64(other);
      if (decoded !== undefined) expect(encodeBase64(decoded)).toBe(other);
    }
  });

  it.each(["00", "01", "-1", "+1", "1.0", "1e3", " 1", "1 ", "", "9007199254740992", "99999999999999999999", "٣"])(
    "%j is no decimal",
    (digits) => {
      expect(readDecimal(digits)).toBeUndefined();
    },
  );
});
