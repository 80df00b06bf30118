/** The hostile corpora are data: JSON files whose long inputs are written as a unit and how often it is repeated. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Repeated {
  before: string;
  repeat: string;
  times: number;
  after: string;
}
export interface Named {
  name: string;
}

export function corpus<T>(name: string): T[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'corpora', `${name}.json`), 'utf8')) as T[];
}
export function expand({ before, repeat, times, after }: Repeated): string {
  return before + repeat.repeat(times) + after;
}
