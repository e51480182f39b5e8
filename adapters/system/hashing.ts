// SHA-256 from Node's own library; BLAKE3, which that does not have, from one that is written for it.
import { createHash } from "node:crypto";
import { blake3 } from "@noble/hashes/blake3.js";
import type { Blake3, Sha256 } from "../../ports/hashing.ts";

export const systemSha256: Sha256 = (content) => createHash("sha256").update(content).digest();

export const systemBlake3: Blake3 = (content) => Buffer.from(blake3(Buffer.from(content))).toString("latin1");
