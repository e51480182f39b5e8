// The witnesses that the configuration names; none of them means that whoever runs the platform must be trusted.
import { Fault } from "../../contracts/src/fault.ts";
import { readPolicy } from "../../core/audit/policy.ts";
import type { Witnesses } from "../../ports/witnesses.ts";
import type { Configuration } from "../configuration/schema.ts";
import { systemSha256OfBytes } from "../system/signing.ts";
import { witnessClient } from "./submit-checkpoints.ts";

export function witnessesOf({ witnesses, witnesses_needed: needed }: Configuration["audit"]): Witnesses | undefined {
  if (witnesses.length === 0) return undefined;
  const addresses = witnesses.map((witness) => {
    const [url = "", vkey = ""] = witness.split(" ");
    return { url, vkey };
  });
  const client = witnessClient(addresses, needed);
  const policy = readPolicy(client.policy, systemSha256OfBytes);
  if (!("malformed" in policy)) return client;
  // The configuration was checked when it was read; this is for whoever makes one in another way.
  const settings = "audit.witnesses (PORTCULLIS_AUDIT_WITNESSES) and audit.witnesses_needed";
  throw new Fault("CONFIGURATION_INVALID", `${settings} cannot be used together: ${policy.malformed}. Correct them.`, {
    retry: "never",
  });
}
