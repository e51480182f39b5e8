// The anchors that the configuration names: a file, a table in another database, both or none.
import type { Anchor } from "../../ports/anchors.ts";
import type { Log } from "../../ports/log.ts";
import type { Configuration } from "../configuration/schema.ts";
import { type DatabaseSecurity, targetFromUrl } from "../postgres/connection.ts";
import { fileAnchor } from "./file-anchor.ts";
import { postgresAnchor } from "./postgres-anchor.ts";

interface ConfiguredAnchors {
  readonly all: readonly Anchor[];
  close(): Promise<void>;
}

/** A database that does not answer now is no reason not to start: it is asked again, and the status says so. */
export function anchorsOf(
  { anchor_file: file, anchor_database_url: url }: Configuration["audit"],
  isOurs: boolean,
  log: Log,
  security: DatabaseSecurity = {},
): ConfiguredAnchors {
  const all: Anchor[] = [];
  if (isOurs && file !== undefined) all.push(fileAnchor(file));
  if (isOurs && url !== undefined) {
    const target = targetFromUrl("PORTCULLIS_AUDIT_ANCHOR_DATABASE_URL", url, "", security);
    all.push(postgresAnchor({ target, log }));
  }
  return {
    all,
    async close() {
      await Promise.all(all.map((anchor) => anchor.close()));
    },
  };
}
