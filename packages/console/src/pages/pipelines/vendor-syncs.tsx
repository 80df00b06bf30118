/** Whose first-party ids the collector reads or makes, and with which consent. */
import { SYNC_IDS } from '@firsthand/core/context/vendor-syncs.ts';
import { CloseButton, Group, Select, Stack, Switch, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { ConsentCategorySelect } from '../../components/consent-category-select.tsx';
import { words } from '../../components/tag.tsx';
import classes from './collector.module.css';
import type { CollectorValues } from './collector-values.ts';

export function VendorSyncs({ form, disabled }: { form: UseFormReturnType<CollectorValues>; disabled: boolean }) {
  const { vendor_syncs: syncs } = form.values;
  const left = [...SYNC_IDS.keys()].filter((vendor) => !syncs.some((sync) => sync.vendor === vendor));
  return (
    <fieldset className={classes.list}>
      <Text component="legend" fw={650}>
        First-party ids of vendors
      </Text>
      <Text size="xs" c="var(--dim)">
        The collector reads the vendor’s cookies, or makes the id, and sends it with each event. Without the consent it does neither.
      </Text>
      <Stack gap={6} mt="xs">
        {syncs.map(({ vendor }, at) => (
          <div key={vendor} className={classes.sync}>
            <Switch
              label={words(vendor)}
              title={(SYNC_IDS.get(vendor) ?? []).join(', ')}
              disabled={disabled}
              {...form.getInputProps(`vendor_syncs.${at}.enabled`, { type: 'checkbox' })}
            />
            <Group gap={4} wrap="nowrap">
              <ConsentCategorySelect
                w={190}
                size="xs"
                aria-label={`Consent for the ids of ${words(vendor)}`}
                placeholder="no consent needed"
                disabled={disabled}
                {...form.getInputProps(`vendor_syncs.${at}.consent_category`)}
              />
              <CloseButton
                aria-label={`Remove ${words(vendor)}`}
                disabled={disabled}
                onClick={() => form.removeListItem('vendor_syncs', at)}
              />
            </Group>
          </div>
        ))}
        <Select
          w={220}
          size="xs"
          aria-label="Add a vendor"
          placeholder="Add a vendor …"
          searchable
          disabled={disabled}
          value={null}
          data={left.map((vendor) => ({ value: vendor, label: words(vendor) }))}
          onChange={(vendor) =>
            vendor !== null &&
            form.insertListItem('vendor_syncs', {
              vendor,
              enabled: true,
              consent_category: vendor === 'google_analytics' ? 'analytics' : 'marketing',
            })
          }
        />
      </Stack>
    </fieldset>
  );
}
