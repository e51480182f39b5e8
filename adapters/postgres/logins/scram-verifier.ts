// What PostgreSQL stores of a password (RFC 5803), made here, so that the password itself is in no statement and in no server's log.
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import type { Random } from "../../../ports/random.ts";

/** The server's own default. */
const iterations = 4_096;
const saltBytes = 16;

/** Only for passwords of plain ASCII, as ours are: others would have to be normalized first. */
export function scramVerifier(password: string, random: Random): string {
  const salt = Buffer.from(random.bytes(saltBytes));
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const keyOf = (name: string): Buffer => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${keyOf("Server Key").toString("base64")}`;
}
