// Whether XML from outside may be read at all. A document type can make a parser fetch, or grow without end: ours is never needed.
export function xmlRefusal(xml: string): string | undefined {
  return /<!\s*(DOCTYPE|ENTITY)/i.test(xml) ? "XML with a DOCTYPE is not read." : undefined;
}
