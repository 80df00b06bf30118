/** What a file target does: stores a finished object. Format, compression and names are the same for all of them. */
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';

export interface FileObject {
  /** Folder and file name, without a leading slash. */
  key: string;
  bytes: Uint8Array;
  content_type: string;
  /** Of the bytes: SHA-256 in hex and MD5 in base64. */
  sha256: string;
  md5: string;
}
export type PutVerdict = Extract<Verdict, { kind: 'delivered' | 'refused' | 'unavailable' }>;

export interface ObjectStore {
  /**
   * Stores the object whole or not at all. `delivered` also where an object of that key exists: its name says that the content is the
   * same. Wrong credentials and a missing bucket are `unavailable`, because a person can correct them before the retries are used up.
   */
  put(object: FileObject, timeout_ms: number): Promise<PutVerdict>;
  /** The address that other programs load the object from. */
  url(key: string): string;
  close(): Promise<void>;
}

export const ALREADY_STORED: PutVerdict = { kind: 'delivered', note: 'already stored' };
