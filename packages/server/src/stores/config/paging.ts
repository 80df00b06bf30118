export interface Page {
  limit: number;
  offset: number;
}
export interface Paged<T> {
  rows: T[];
  total: number;
}

/** For `like … escape '\'`: the user's own % and _ mean themselves. */
export function likeContaining(text: string): string {
  return `%${text.replace(/[\\%_]/g, (found) => `\\${found}`)}%`;
}
