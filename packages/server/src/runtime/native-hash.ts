/** Importing this file gives core Node's SHA-256. Every process that maps or delivers events imports it. */
import { hash } from 'node:crypto';
import { useNativeSha256 } from '@firsthand/core/hash/hash.ts';

useNativeSha256((text) => hash('sha256', text, 'hex'));
