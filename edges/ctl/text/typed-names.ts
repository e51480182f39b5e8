// What the server says of a field, said of the option or argument that was typed: whoever typed --quantity has never seen body.quantity.
import type { Failure } from "../failure.ts";
import type { Verb } from "../verbs/verb.ts";

/** Options that are called otherwise than the field that they fill. */
const otherNames: Readonly<Record<string, string>> = { count_max: "limit", thesis: "reason" };

export function inTypedWords(failure: Failure, verb: Verb): Failure {
  const errors = errorsOf(failure.problem);
  if (errors.length > 0) {
    const sentences = errors.map(({ field, expected }) => `${typedName(field, verb)}: expected ${expected}`);
    return { ...failure, detail: `${sentences.join("; ")}.` };
  }
  // A service begins with the field that it means.
  const detail = failure.detail.replace(/^([a-z_]+) is /, (all, field: string) => {
    const name = typedName(`body.${field}`, verb);
    return name === `body.${field}` ? all : `${name} is `;
  });
  return { ...failure, detail };
}

function typedName(field: string, verb: Verb): string {
  const found = /^(?:body|query|path)\.([a-z_]+)/.exec(field)?.[1];
  if (found === undefined) return field;
  const name = (otherNames[found] ?? found).replaceAll("_", "-");
  if (verb.options.some((option) => option.name === name)) return `--${name}`;
  return verb.arguments.some((argument) => argument.name === found) ? `<${found}>` : field;
}

interface FieldError {
  readonly field: string;
  readonly expected: string;
}

/** The problem document comes from outside: what is not of its form is passed over. */
function errorsOf(problem: Failure["problem"]): readonly FieldError[] {
  const errors = problem?.["errors"];
  if (!Array.isArray(errors)) return [];
  return errors.filter((one): one is FieldError => typeof one?.field === "string" && typeof one?.expected === "string");
}
