// The table of keys in docs/configuration.md, made from the schema so that it cannot be wrong for long: a test compares
// the document with it, and writes it anew when asked to.
import { stringify } from "yaml";
import { type NamedKey, namedKeys } from "../../adapters/configuration/schema-tree.ts";

const begin = "<!-- keys: made from adapters/configuration/schema.ts -->";
const end = "<!-- end of keys -->";

export function keyTable(): string {
  const rows = namedKeys.map((key) => `| ${cells(key).join(" | ")} |`);
  const head = ["| Key | Expected | Default | Environment | What it decides |", "|---|---|---|---|---|"];
  return [...head, ...rows].join("\n");
}

function cells({ path, node }: NamedKey): readonly string[] {
  const { sentence = "", environment, secrecy, whenAbsent } = node.facts ?? {};
  const notes = {
    none: "",
    credentials: " In the file without credentials only.",
    whole: " Secret: from the environment only.",
  };
  const variable = environment === undefined ? "" : `\`${environment}\``;
  const texts = [`\`${path}\``, node.expected, standard(node.fallback, whenAbsent), variable];
  return [...texts, `${sentence}${notes[secrecy ?? "none"]}`].map((text) => text.replaceAll("|", "\\|"));
}

function standard(fallback: unknown, whenAbsent: string | undefined): string {
  if (fallback === undefined) return whenAbsent ?? "must be given";
  if (Array.isArray(fallback) && fallback.length === 0) return "none";
  const text = Array.isArray(fallback) ? fallback.join(", ") : stringify(fallback, { lineWidth: 0 }).trimEnd();
  return `\`${text}\``;
}

/** The document with its table replaced by the one that the schema says. */
export function withKeyTable(document: string): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the document lacks "${begin}" or "${end}"`);
  return `${before}${begin}\n${keyTable()}\n${end}${after}`;
}
