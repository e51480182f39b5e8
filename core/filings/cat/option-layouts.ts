// The fields of CAT's events of orders for single options, in their order.
//
// A field is `name:type!` where CAT requires it and `name:type?` where it does not; `<4.2.0` says that it is gone from that version on. The head that all of them
// share is in layouts.ts. Fields that CAT retired, and those that only alternative trading systems fill with lists, are left out.
export const optionLayouts = {
  MONO: `
    eventTimestamp:time! manualFlag:flag! manualOrderKeyDate:time? manualOrderID:text64? electronicDupFlag:flag!
    electronicTimestamp:time? deptType:choice! side:choice! price:price? quantity:quantity! minQty:whole?
    orderType:choice! timeInForce:pairs! tradingSession:choice! handlingInstructions:pairs?
    firmDesignatedID:text40! accountHolderType:choice! affiliateFlag:flag! solicitationFlag:flag!
    openCloseIndicator:choice? representativeInd:choice! RFQID:text64?<4.2.0 netPrice:price?`,
  MOOA: `
    eventTimestamp:time! manualOrderKeyDate:time? manualOrderID:text64? manualFlag:flag! electronicDupFlag:flag!
    electronicTimestamp:time? receiverIMID:member! senderIMID:party! senderType:choice! routedOrderID:text64?
    deptType:choice! side:choice! price:price? quantity:quantity! minQty:whole? orderType:choice!
    timeInForce:pairs! tradingSession:choice! handlingInstructions:pairs? affiliateFlag:flag!
    solicitationFlag:flag! pairedOrderID:text64? openCloseIndicator:choice? netPrice:price?`,
  MOCO: `
    parentOrderKeyDate:time! parentOrderID:text64! originatingIMID:imid? eventTimestamp:time! side:choice!
    price:price? quantity:quantity! minQty:whole? orderType:choice! timeInForce:pairs! tradingSession:choice!
    handlingInstructions:pairs? openCloseIndicator:choice! multiLegInd:flag! netPrice:price?`,
  MOCOM: `
    priorOrderKeyDate:time? priorOrderID:text64? originatingIMID:imid? eventTimestamp:time! side:choice!
    price:price? quantity:quantity! minQty:whole? leavesQty:quantity! orderType:choice! timeInForce:pairs!
    tradingSession:choice! handlingInstructions:pairs? openCloseIndicator:choice? netPrice:price?`,
  MOCOC: `
    originatingIMID:imid? eventTimestamp:time! side:choice! cancelQty:quantity! leavesQty:quantity!`,
  MOOR: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicDupFlag:flag! electronicTimestamp:time?
    senderIMID:member? destination:party? destinationType:choice! routedOrderID:text64? session:text40?
    side:choice! price:price? quantity:quantity! minQty:whole? orderType:choice! timeInForce:pairs!
    tradingSession:choice! handlingInstructions:pairs? routeRejectedFlag:flag! exchOriginCode:text4?
    affiliateFlag:flag! multiLegInd:flag! openCloseIndicator:choice? pairedOrderID:text64? netPrice:price?`,
  MOORS: `
    originatingIMID:imid? eventTimestamp:time! senderIMID:member? destination:party? destinationType:choice!
    routedOrderID:text64? session:text40? routeRejectedFlag:flag! manualFlag:flag!`,
  MOOM: `
    priorOrderKeyDate:time? priorOrderID:text64? originatingIMID:imid? eventTimestamp:time!
    manualOrderKeyDate:time? manualOrderID:text64? manualFlag:flag! electronicDupFlag:flag!
    electronicTimestamp:time? receiverIMID:member? senderIMID:party? senderType:choice? routedOrderID:text64?
    initiator:choice! side:choice! price:price? quantity:quantity! minQty:whole? leavesQty:quantity!
    orderType:choice! timeInForce:pairs! tradingSession:choice! handlingInstructions:pairs?
    openCloseIndicator:choice? requestTimestamp:time? representativeInd:choice! netPrice:price?`,
  MOMR: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicTimestamp:time? senderIMID:member?
    destination:party? destinationType:choice! routedOrderID:text64? priorRoutedOrderID:text64? session:text40?
    side:choice! price:price? quantity:quantity! minQty:whole? orderType:choice! timeInForce:pairs!
    tradingSession:choice! affiliateFlag:flag! handlingInstructions:pairs? routeRejectedFlag:flag!
    dupROIDCond:flag! exchOriginCode:text4? openCloseIndicator:choice? netPrice:price? multiLegInd:flag!`,
  MOOC: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicTimestamp:time? cancelQty:quantity!
    leavesQty:quantity! initiator:choice! requestTimestamp:time?`,
  MOCR: `
    originatingIMID:imid? eventTimestamp:time! manualFlag:flag! electronicTimestamp:time? cancelQty:quantity!
    senderIMID:member? destination:party? destinationType:choice! routedOrderID:text64? session:text40?
    routeRejectedFlag:flag! multiLegInd:flag!`,
} as const;
