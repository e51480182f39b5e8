// The words that CAT's choices may be, by the field; and the exchanges that an order can be routed to, by version.
export const catChoices: Readonly<Record<string, readonly string[]>> = {
  actionType: ["NEW", "COR", "RPR", "DEL"],
  accountHolderType: ["A", "E", "F", "I", "O", "V", "P", "X"],
  atsDisplayInd: ["S", "A", "Y", "N"],
  deptType: ["A", "ATS", "DMA", "SA", "T", "O"],
  destinationType: ["D", "F", "E", "N", "O"],
  initiator: ["C", "F"],
  isoInd: ["ISOD", "ISOI", "NA"],
  nbboSource: ["D", "S", "H", "NA"],
  openCloseIndicator: ["Open", "Close"],
  orderType: ["CAB", "LMT", "MKT"],
  representativeInd: ["Y", "YE", "YP", "YS", "N", "O", "OS", "OML", "OMS"],
  senderType: ["E", "F", "O"],
  side: ["B", "S", "SL", "SS", "SX"],
  tradingSession: ["FOR", "PRE", "PREREG", "REG", "REGPOST", "POST", "PREPOST", "ALL"],
};

const exchangesSince410 =
  "AMER AMEROP ARCA ARCAOP BOX BSTX BX BYX BZX BZXOP C2 CBOE CHX EDGA EDGX EDGXOP EMLD GEMX IEX ISE LTSE MEMX MIAMI MRX NOBO NOM NSDQ NSX NYSE PEARL PEARLEQ PHLX PSX SPHR";
const exchangesSince420 = `${exchangesSince410} 24X IEXOP MEMXOP MX2OP TXSE`;

const exchanges = {
  "4.1.0": new Set(exchangesSince410.split(" ")),
  "4.2.0": new Set(exchangesSince420.split(" ")),
} as const;

export function isExchange(id: string, version: keyof typeof exchanges): boolean {
  return exchanges[version].has(id);
}

/** What may stand in a name/value pair, by the pair's field: those that our orders can have. */
export const catPairs: Readonly<Record<string, Readonly<Record<string, "flag" | "price" | "date" | "time">>>> = {
  timeInForce: { DAY: "date", GTC: "flag", GTT: "time", IOC: "flag" },
  handlingInstructions: { FOK: "flag", STOP: "price" },
};
