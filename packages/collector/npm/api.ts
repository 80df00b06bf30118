/** The public types of the npm package. They ship as its `index.d.ts`, so this file imports nothing. */

export interface InitOptions {
  /** The pipeline's public key, `pk_…`. */
  pipelineKey: string;
  /** Where events go: the address of your Firsthand service, `https://events.example.com`. */
  ingestUrl: string;
  /** Send a page view at the start and for each new address of a single-page application. Default: true. */
  autoPage?: boolean;
  /** Overrides `consent_config.wait_ms`. */
  waitMs?: number;
  /** For pipelines that require a challenge token. A function is called for every event. */
  challengeToken?: string | (() => string | undefined);
  /** The same settings as a pipeline's `js_builder_config`. */
  config?: CollectorConfig;
}

export interface CollectorConfig {
  /** Name of the global variable that holds the collector. Default: `_df`. */
  global_variable?: string;
  /** Events wait for consent and carry it. Absent: the collector does not look for a consent tool. */
  consent_config?: {
    provider?: 'onetrust' | 'cookiebot' | 'usercentrics' | 'didomi' | 'osano' | 'tcf' | 'google_consent_mode' | 'custom' | 'auto';
    wait_ms?: number;
    required_category?: string | null;
  };
  /** Raw names of your consent tool to canonical categories, as in the organisation's data layer. */
  consent_mapping?: Record<string, string>;
  /** Vendors whose first-party cookies are sent as `context.vendor_ids`. */
  vendor_syncs?: Record<string, boolean | { enabled?: boolean; consent_category?: string }>;
  /** Values of the page that every event carries. */
  variables?: {
    name: string;
    source: 'data_layer' | 'js_variable' | 'cookie' | 'query' | 'meta' | 'selector';
    path: string;
    target: string;
  }[];
  /** Domains of yours that share the visitor's id. */
  cross_domain_domains?: string[];
}

export type Properties = Record<string, unknown>;
/** Fields of an event that replace those of the collector: `timestamp`, `messageId`, `context`, … */
export type EventOptions = Record<string, unknown>;
export type Consent = Record<string, unknown> | string[];

export interface Collector {
  track(event: string, properties?: Properties, options?: EventOptions): void;
  page(name?: string, properties?: Properties, options?: EventOptions): void;
  identify(userId?: string | null, traits?: Properties, options?: EventOptions): void;
  group(groupId: string, traits?: Properties, options?: EventOptions): void;
  consent(categories: Consent): void;
  reset(): void;
  ready(callback: () => void): void;
  on(name: 'track' | 'page' | 'identify' | 'group' | 'consent' | 'error', handler: (detail: unknown) => void): void;
}
