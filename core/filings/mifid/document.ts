// The document that transaction reports are handed in as: a header, and one element for each record. Written exactly: the same records are the same bytes.
import { format } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { catDate } from "../eastern-time.ts";
import type { FiledPerson, FileToSeal } from "../regime.ts";
import { type Content, personMark } from "./forms.ts";

const namespace = "urn:iso:std:iso:20022:tech:xsd";
const message = "auth.016.001.01";
const numberDigits = 6;
const elementName = /^[A-Za-z][A-Za-z0-9]*$/;

/** Of a file without records there is none: the schema wants at least one. */
export function documentHead(of: FileToSeal): string {
  const { fund, group, date, number, sealedAt, receiver } = of;
  const from: Content = { Id: fund.mifid?.submitterLei ?? "", SchmeNm: { Prtry: "LEI" } };
  const to: Content = { Id: receiver ?? fund.mifid?.country ?? "" };
  const party = (one: Content): Content => ({ OrgId: { Id: { OrgId: { Othr: one } } } });
  const header: Content = {
    Fr: party(from),
    To: party(to),
    BizMsgIdr: `${group}${catDate(date)}-${String(number).padStart(numberDigits, "0")}`,
    MsgDefIdr: message,
    CreDt: format(sealedAt),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    `<BizData xmlns="${namespace}:head.003.001.01">`,
    `<Hdr><AppHdr xmlns="${namespace}:head.001.001.01">${elements(header)}</AppHdr></Hdr>`,
    `<Pyld><Document xmlns="${namespace}:${message}"><FinInstrmRptgTxRpt>\n`,
  ].join("");
}

export const documentTail = "</FinInstrmRptgTxRpt></Document></Pyld></BizData>\n";

/** One record's element, on a line of its own. */
export function documentPart(line: string, persons: ReadonlyMap<string, FiledPerson>): string {
  return `${element("Tx", withPersons(transactionOf(line), persons))}\n`;
}

/** The names of those whose identity the record's element needs. */
export function personsOf(line: string): readonly string[] {
  const found = new Set<string>();
  const look = (content: Content): void => {
    if (typeof content === "string") return;
    const name = content[personMark];
    if (typeof name === "string") found.add(name);
    for (const held of Object.values(content)) look(held);
  };
  look(transactionOf(line));
  return [...found];
}

/** What beside it is said for people stands in no document. */
function transactionOf(line: string): Content {
  const { New, Cxl } = parseJson(line) as { readonly New?: Content; readonly Cxl?: Content };
  if (New !== undefined) return { New };
  if (Cxl !== undefined) return { Cxl };
  throw new Error("a record of MiFID II has New or Cxl");
}

function withPersons(content: Content, persons: ReadonlyMap<string, FiledPerson>): Content {
  if (typeof content === "string") return content;
  const name = content[personMark];
  if (typeof name === "string") return identityOf(name, persons.get(name));
  return Object.fromEntries(Object.entries(content).map(([key, held]) => [key, withPersons(held, persons)]));
}

function identityOf(name: string, person: FiledPerson | undefined): Content {
  if (person === undefined) throw new Error(`nobody says who ${name} is`);
  const scheme: Content = person.scheme === "CONCAT" ? { Prtry: person.scheme } : { Cd: person.scheme };
  return { CtryOfBrnch: person.country, Othr: { Id: person.nationalId, SchmeNm: scheme } };
}

function elements(content: Content): string {
  if (typeof content === "string") return escaped(content);
  return Object.entries(content)
    .filter(([name]) => !name.startsWith("@"))
    .map(([name, held]) => (name === "#" ? elements(held) : element(name, held)))
    .join("");
}

function element(name: string, content: Content): string {
  if (!elementName.test(name)) throw new Error("an element is named by letters and digits");
  const attributes = typeof content === "string" ? [] : Object.entries(content).filter(([key]) => key.startsWith("@"));
  const shown = attributes.map(([key, held]) => ` ${key.slice(1)}="${typeof held === "string" ? escaped(held) : ""}"`);
  return `<${name}${shown.join("")}>${elements(content)}</${name}>`;
}

/** Characters that no XML can hold never come here: the tables let none through. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
