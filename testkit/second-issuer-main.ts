// Runs the second issuer as a process of its own: `npx tsx testkit/second-issuer-main.ts --port 9090`. Its first line is its issuer URL.
import { parseArgs } from "node:util";
import { startSecondIssuer } from "./second-issuer.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    /** `name:role,role`, as often as there are people. */
    account: { type: "string", multiple: true, default: ["erika:operator,risk_officer,admin", "max:viewer"] },
    "roles-claim": { type: "string", default: "roles" },
    audience: { type: "string" },
  },
});

const issuer = await startSecondIssuer({
  port: Number(values.port),
  accounts: values.account.map((text) => {
    const [name = "", roles = ""] = text.split(":");
    return { name, roles: roles.split(",").filter((role) => role !== "") };
  }),
  rolesClaim: values["roles-claim"],
  ...(values.audience === undefined ? {} : { audience: values.audience }),
});
process.stdout.write(`${issuer.issuer}\n${JSON.stringify({ issuer: issuer.issuer, client_id: issuer.clientId })}\n`);

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void issuer.stop());
