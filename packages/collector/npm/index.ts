/** `import { init } from '@firsthand/collector'`: the collector inside a bundle, configured at run time instead of at build time. */
import { type CollectorConstants, collectorConstants } from '../build/constants.ts';
import type { Collector, InitOptions } from './api.ts';
import { run } from './run.ts';

export type { Collector, CollectorConfig, Consent, EventOptions, InitOptions, Properties } from './api.ts';

const METHODS = ['track', 'page', 'identify', 'group', 'consent', 'reset', 'ready', 'on'] as const;

/** Starts the collector, or returns the running one. On a server, where there is no page, it returns one that does nothing. */
export function init(options: InitOptions): Collector {
  if (typeof document === 'undefined') return idle();
  const constants = constantsOf(options);
  run(constants, (name) => attribute(options, name));
  const page = globalThis as unknown as Record<string, Collector | undefined>; // `run` has set the global variable of this name
  return page[constants.C_GLOBAL] ?? idle();
}

function constantsOf({ pipelineKey, ingestUrl, config = {} }: InitOptions): CollectorConstants {
  if (!pipelineKey || !ingestUrl) throw new Error('init needs pipelineKey and ingestUrl.');
  const domains = config.cross_domain_domains ?? [];
  return collectorConstants({
    pipeline_key: pipelineKey,
    ingest_url: ingestUrl,
    global_variable: config.global_variable ?? '_df',
    consent_config: config.consent_config ?? {},
    ...(config.consent_mapping === undefined ? {} : { consent_mapping: config.consent_mapping }),
    vendor_syncs: config.vendor_syncs ?? {},
    variables: config.variables ?? [],
    cross_domain: domains.length > 0,
    domains,
    client_side: [],
  });
}

/** The collector reads its options from the attributes of its script tag; here they come from `init`. */
function attribute(options: InitOptions, name: string): string | undefined {
  if (name === 'autoPage') return options.autoPage === false ? 'false' : undefined;
  if (name === 'waitMs') return options.waitMs === undefined ? undefined : String(options.waitMs);
  if (name !== 'challengeToken') return undefined;
  return typeof options.challengeToken === 'function' ? options.challengeToken() : options.challengeToken;
}

function idle(): Collector {
  return Object.fromEntries(METHODS.map((name) => [name, () => {}])) as unknown as Collector; // every method of the interface is in METHODS
}
