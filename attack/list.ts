/** Every runner by hand: a visible list. */
import { archives, collection } from './runners/collection.ts';
import { patterns, templates } from './runners/configuration.ts';
import { addresses, tokens } from './runners/identities.ts';
import { largest } from './runners/largest.ts';
import { upgrades } from './runners/upgrades.ts';
import type { Runner } from './target.ts';

export const RUNNERS: readonly Runner[] = [collection, archives, upgrades, templates, patterns, tokens, addresses, largest];
/** Production mode refuses destinations inside the network. */
export const PRODUCTION = { MODE: 'production', BASE_URL: 'https://admin.example', INGEST_URL: 'https://in.example' };
