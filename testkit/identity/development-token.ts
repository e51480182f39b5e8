// What the service token of a start in development may do, as docs/identity.md says it: tests hold the platform to the page.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isOperation, type Operation } from "../../contracts/src/authority.ts";

export function developmentTokenOperations(): readonly Operation[] {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "identity.md"), "utf8");
  const [, row = ""] = /^\| `service_token` \|(.*)$/m.exec(page) ?? [];
  const words: readonly string[] = row.match(/\w+/g) ?? [];
  return words.filter(isOperation);
}
