// Written by scripts/generate-field-copiers.ts. Do not edit.
import { ownCopy } from '../../copy.ts';

/** Source and target names of up to 4 fields. */
export interface CopiedFields {
  s0: string;
  d0: string;
  s1?: string;
  d1?: string;
  s2?: string;
  d2?: string;
  s3?: string;
  d3?: string;
}
/** Copies the fields that are there and says how many there were. */
export type FieldCopier = (from: Record<string, unknown>, out: Record<string, unknown>) => number;

export const COPIERS: readonly ((fields: CopiedFields) => FieldCopier)[] = [
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
  ({ s0, d0, s1, d1, s2, d2, s3, d3 }) => (from, out) => {
    let n = 0;
    let v = from[s0]; if (v !== undefined && v !== null) { out[d0] = typeof v === 'object' ? ownCopy(v) : v; n++; }
    if (s1 !== undefined) { v = from[s1]; if (v !== undefined && v !== null) { out[d1!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s2 !== undefined) { v = from[s2]; if (v !== undefined && v !== null) { out[d2!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    if (s3 !== undefined) { v = from[s3]; if (v !== undefined && v !== null) { out[d3!] = typeof v === 'object' ? ownCopy(v) : v; n++; } }
    return n;
  },
];
