// The roles that a person shall have, as an option.
import { usageRefusal } from "../failure.ts";
import type { Context, VerbOption } from "../verbs/verb.ts";

const roleNames = ["viewer", "operator", "risk_officer", "admin"];

export const rolesOption: VerbOption = {
  name: "role",
  value: "ROLE",
  repeats: true,
  sentence: "What they may be; repeat it, or use commas: viewer, operator, risk_officer, admin.",
  values: roleNames,
};

/** Before a code is asked for: the server would say the same, and the code would be used up. */
export function rolesOf(context: Context): string[] {
  const roles = [...context.optionsOf("role")];
  const unknown = roles.find((role) => !roleNames.includes(role));
  const hint = `A person may be: ${roleNames.join(", ")}.`;
  if (unknown !== undefined) throw usageRefusal(`There is no role ${JSON.stringify(unknown)} for people.`, hint);
  if (roles.length === 0) throw usageRefusal("Name at least one --role.", hint);
  return [...new Set(roles)];
}
