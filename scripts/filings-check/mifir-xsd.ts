// Holds a document against the official schemas of transaction reports: the envelope, the header and the reports in one.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** The schemas, by their namespaces' last word and how their files begin. */
const schemas = ["head.003.001.01", "head.001.001.01", "auth.016.001.01"] as const;
const namespace = "urn:iso:std:iso:20022:tech:xsd:";

/** A sentence for each thing that is wrong, with its line. */
export async function xmlMistakes(folder: string, xml: string): Promise<readonly string[]> {
  // A document type can make a parser fetch, or grow without end: ours is never needed.
  if (/<!\s*(DOCTYPE|ENTITY)/i.test(xml)) return ["XML with a DOCTYPE is not read."];
  const { XmlDocument, XsdValidator } = await import("libxml2-wasm");
  const { xmlRegisterFsInputProviders } = await import("libxml2-wasm/lib/nodejs.mjs");
  xmlRegisterFsInputProviders();
  const imports = schemas.map((name) => {
    const file = readdirSync(folder).find((one) => one.startsWith(name) && one.endsWith(".xsd"));
    if (file === undefined) throw new Error(`${folder} has no ${name}*.xsd.`);
    return `<xs:import namespace="${namespace}${name}" schemaLocation="${resolve(join(folder, file))}"/>`;
  });
  const whole = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${imports.join("")}</xs:schema>`;
  const schema = XmlDocument.fromString(whole);
  try {
    const validator = XsdValidator.fromDoc(schema);
    const document = XmlDocument.fromString(xml);
    try {
      validator.validate(document);
      return [];
    } catch (thrown) {
      return detailsOf(thrown);
    } finally {
      document.dispose();
      validator.dispose();
    }
  } catch (thrown) {
    return detailsOf(thrown);
  } finally {
    schema.dispose();
  }
}

function detailsOf(thrown: unknown): readonly string[] {
  if (!(thrown instanceof Error)) throw thrown;
  const { details = [] } = thrown as {
    readonly details?: readonly { readonly message: string; readonly line: number }[];
  };
  if (details.length === 0) return [thrown.message.trim()];
  return details.map(({ message, line }) => `line ${line}: ${message.trim()}`);
}
