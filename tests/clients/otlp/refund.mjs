// What every client here is asked, and the tool that it has: it throws.
export const request = "Refund order 1234";
export const model = "gpt-4o-mini";

export function issueRefund() {
  throw new Error("payment gateway timed out after 30s");
}
