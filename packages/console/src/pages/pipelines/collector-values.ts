import { dotted } from '../../dotted.ts';

/** The collector's settings as a form has them: lists with an order, and empty fields for what is not set. */
export interface BuilderConfig {
  script_filename: string;
  global_variable: string;
  delivery_method: 'download' | 'cdn' | 'cluster';
  vendor_syncs: Record<string, { enabled?: boolean; consent_category?: string }>;
  consent_config: { provider?: string; wait_ms?: number; required_category?: string };
  cross_domain: boolean;
  variables?: PageVariable[];
}
export interface PageVariable {
  name: string;
  source: VariableSource;
  path: string;
  target: string;
}
export type VariableSource = 'data_layer' | 'js_variable' | 'cookie' | 'query' | 'meta' | 'selector';
interface Sync {
  vendor: string;
  enabled: boolean;
  consent_category: string | null;
}
export interface CollectorValues extends Pick<BuilderConfig, 'script_filename' | 'global_variable' | 'delivery_method' | 'cross_domain'> {
  consent_config: { provider: string | null; wait_ms: number | ''; required_category: string | null };
  vendor_syncs: Sync[];
  variables: PageVariable[];
}

export function valuesOf(config: BuilderConfig): CollectorValues {
  const { script_filename, global_variable, delivery_method, cross_domain, consent_config, vendor_syncs, variables = [] } = config;
  return {
    script_filename,
    global_variable,
    delivery_method,
    cross_domain,
    consent_config: {
      provider: consent_config.provider ?? null,
      wait_ms: consent_config.wait_ms ?? '',
      required_category: consent_config.required_category ?? null,
    },
    vendor_syncs: Object.entries(vendor_syncs).map(([vendor, { enabled = true, consent_category = null }]) => ({
      vendor,
      enabled,
      consent_category,
    })),
    variables: variables.map((variable) => ({ ...variable })),
  };
}

export function configOf({ consent_config, vendor_syncs, variables, ...plain }: CollectorValues): BuilderConfig {
  const { provider, wait_ms, required_category } = consent_config;
  return {
    ...plain,
    consent_config: {
      ...(provider === null ? {} : { provider }),
      ...(wait_ms === '' ? {} : { wait_ms }),
      ...(required_category === null ? {} : { required_category }),
    },
    vendor_syncs: Object.fromEntries(
      vendor_syncs.map(({ vendor, enabled, consent_category }) => [
        vendor,
        { enabled, ...(consent_category === null ? {} : { consent_category }) },
      ]),
    ),
    variables: variables.map(({ name, source, path, target }) => ({ name: name.trim(), source, path: path.trim(), target: target.trim() })),
  };
}

/** Whether the form has a place for faults of this field: lists and objects have it at what is in them. */
export function isShown(field: string): boolean {
  const [root = '', ...rest] = field.split('.');
  return rest.length > 0
    ? ['consent_config', 'vendor_syncs', 'variables'].includes(root)
    : ['script_filename', 'global_variable', 'delivery_method', 'cross_domain'].includes(root);
}
/** Where the form has the field that the API names: `js_builder_config.variables[1].path` → `variables.1.path`, `….vendor_syncs.meta.enabled` → `vendor_syncs.0.enabled`. */
export function formField(field: string, { vendor_syncs }: Pick<CollectorValues, 'vendor_syncs'>): string {
  const own = dotted(field).replace(/^js_builder_config\./, '');
  const [list, vendor, ...rest] = own.split('.');
  const at = list === 'vendor_syncs' ? vendor_syncs.findIndex((sync) => sync.vendor === vendor) : -1;
  return at < 0 ? own : ['vendor_syncs', at, ...(rest.length === 0 ? ['vendor'] : rest)].join('.');
}
