// The fields of CAT's events of equity orders, in their order.
//
// A field is `name:type!` where CAT requires it and `name:type?` where it does not; `<4.2.0` says that it is gone from that version on. The head that all of them
// share is in layouts.ts. Fields that CAT retired, and those that only alternative trading systems fill with lists, are left out.
export const equityLayouts = {
  MENO: `
    eventTimestamp:time! manualFlag:flag! electronicDupFlag:flag! electronicTimestamp:time?
    manualOrderKeyDate:time? manualOrderID:text64? deptType:choice! solicitationFlag:flag! RFQID:text64?<4.2.0
    side:choice! price:price? quantity:quantity! minQty:whole? orderType:choice! timeInForce:pairs!
    tradingSession:choice! handlingInstructions:pairs? custDspIntrFlag:flag! firmDesignatedID:text40!
    accountHolderType:choice! affiliateFlag:flag! infoBarrierID:text20? negotiatedTradeFlag:flag!
    representativeInd:choice! seqNum:alnum40? atsDisplayInd:choice? displayPrice:price? workingPrice:price?
    displayQty:whole? nbbPrice:price? nbbQty:whole? nboPrice:price? nboQty:whole? nbboSource:choice?
    nbboTimestamp:time? netPrice:price?`,
  MEOA: `
    eventTimestamp:time! manualFlag:flag! electronicDupFlag:flag! electronicTimestamp:time? receiverIMID:member!
    senderIMID:party! senderType:choice! routedOrderID:text64? manualOrderKeyDate:time? manualOrderID:text64?
    affiliateFlag:flag! deptType:choice! side:choice! price:price? quantity:quantity! minQty:whole?
    orderType:choice! timeInForce:pairs! tradingSession:choice! isoInd:choice! handlingInstructions:pairs?
    custDspIntrFlag:flag! infoBarrierID:text20? seqNum:alnum40? atsDisplayInd:choice? displayPrice:price?
    workingPrice:price? displayQty:whole? nbbPrice:price? nbbQty:whole? nboPrice:price? nboQty:whole?
    nbboSource:choice? nbboTimestamp:time? solicitationFlag:flag! pairedOrderID:text64? netPrice:price?`,
  MECO: `
    parentOrderKeyDate:time! parentOrderID:text64! originatingIMID:imid? eventTimestamp:time! side:choice!
    price:price? quantity:quantity! minQty:whole? orderType:choice! timeInForce:pairs! tradingSession:choice!
    handlingInstructions:pairs? seqNum:alnum40? atsDisplayInd:choice? displayPrice:price? workingPrice:price?
    displayQty:whole? nbbPrice:price? nbbQty:whole? nboPrice:price? nboQty:whole? nbboSource:choice?
    nbboTimestamp:time? multiLegInd:flag! infoBarrierID:text20? netPrice:price?`,
  MECOM: `
    priorOrderKeyDate:time? priorOrderID:text64? originatingIMID:imid? eventTimestamp:time! side:choice!
    price:price? quantity:quantity! minQty:whole? leavesQty:quantity! orderType:choice! timeInForce:pairs!
    tradingSession:choice! handlingInstructions:pairs? seqNum:alnum40? atsDisplayInd:choice? displayPrice:price?
    workingPrice:price? displayQty:whole? nbbPrice:price? nbbQty:whole? nboPrice:price? nboQty:whole?
    nbboSource:choice? nbboTimestamp:time? netPrice:price?`,
  MECOC: `
    originatingIMID:imid? eventTimestamp:time! side:choice! cancelQty:quantity! leavesQty:quantity!
    seqNum:alnum40?`,
  MEOR: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicDupFlag:flag! electronicTimestamp:time?
    senderIMID:member? destination:party? destinationType:choice! routedOrderID:text64? session:text40?
    side:choice! price:price? quantity:quantity! minQty:whole? orderType:choice! timeInForce:pairs!
    tradingSession:choice! affiliateFlag:flag! isoInd:choice! handlingInstructions:pairs? routeRejectedFlag:flag!
    dupROIDCond:flag! seqNum:alnum40? multiLegInd:flag! pairedOrderID:text64? infoBarrierID:text20?
    netPrice:price? quoteKeyDate:time? quoteID:text64?`,
  MEORS: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! senderIMID:member? destination:party?
    destinationType:choice! routedOrderID:text64? session:text40? routeRejectedFlag:flag!`,
  MEOM: `
    priorOrderKeyDate:time? priorOrderID:text64? originatingIMID:imid? eventTimestamp:time! manualFlag:flag!
    manualOrderKeyDate:time? manualOrderID:text64? electronicDupFlag:flag! electronicTimestamp:time?
    receiverIMID:member? senderIMID:party? senderType:choice? routedOrderID:text64? requestTimestamp:time?
    initiator:choice! side:choice! price:price? quantity:quantity! minQty:whole? leavesQty:quantity!
    orderType:choice! timeInForce:pairs! tradingSession:choice! isoInd:choice! handlingInstructions:pairs?
    custDspIntrFlag:flag! infoBarrierID:text20? representativeInd:choice! seqNum:alnum40? atsDisplayInd:choice?
    displayPrice:price? workingPrice:price? displayQty:whole? nbbPrice:price? nbbQty:whole? nboPrice:price?
    nboQty:whole? nbboSource:choice? nbboTimestamp:time? netPrice:price?`,
  MEMR: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicTimestamp:time? senderIMID:member?
    destination:party? destinationType:choice! routedOrderID:text64? priorRoutedOrderID:text64? session:text40?
    side:choice! price:price? quantity:quantity! minQty:whole? orderType:choice! timeInForce:pairs!
    tradingSession:choice! affiliateFlag:flag! isoInd:choice! handlingInstructions:pairs? routeRejectedFlag:flag!
    dupROIDCond:flag! seqNum:alnum40? netPrice:price? multiLegInd:flag!`,
  MEOC: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicTimestamp:time? cancelQty:quantity!
    leavesQty:quantity! initiator:choice! seqNum:alnum40? requestTimestamp:time? infoBarrierID:text20?`,
  MECR: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicTimestamp:time? cancelQty:quantity!
    senderIMID:member? destination:party? destinationType:choice! routedOrderID:text64? session:text40?
    routeRejectedFlag:flag! seqNum:alnum40? multiLegInd:flag!`,
} as const;
