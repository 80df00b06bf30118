/** Messages between `ReadThread` and its thread. */
export interface Statement {
  /** Statements of a transaction have a connection of their own, so that no other read sees what is not committed. */
  connection: 'read' | 'write';
  sql: string;
  parameters: readonly unknown[];
}
export type ReadRequest = { id: number } & Statement;
export interface Answered {
  rows: unknown[];
  changes: number;
}
export type ReadReply = { id: number } & (Answered | { error: { message: string; code?: unknown; errcode?: unknown } });
