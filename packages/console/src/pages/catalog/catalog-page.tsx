import { GROUPS } from '@firsthand/core/vendor/definition.ts';
import { Button, Chip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { AddressInput } from '../../components/address-input.tsx';
import { Page } from '../../components/page.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { catalogQuery } from '../../queries.ts';
import classes from './catalog.module.css';
import { VendorIcon } from './vendor-icon.tsx';

const labelOf = (group: string) => group.replaceAll('_', ' ');

export function CatalogPage() {
  const { q = '', group = 'all', pipeline } = useSearch({ strict: false }) as { q?: string; group?: string; pipeline?: string };
  const navigate = useNavigate();
  const kept = pipeline === undefined ? {} : { pipeline };
  const catalog = useQuery(catalogQuery());
  const set = (next: { q?: string | undefined; group?: string | undefined }) =>
    void navigate({ to: '/catalog', search: (old: object) => ({ ...old, ...next }), replace: true } as never);
  if (catalog.isPending) return <Loading what="the catalog" />;
  if (catalog.isLoadingError) return <Failed error={catalog.error} retry={() => void catalog.refetch()} />;
  const wanted = q.toLowerCase();
  const vendors = catalog.data.vendors.filter(
    (vendor) =>
      (group === 'all' || vendor.group === group) &&
      [vendor.name, vendor.description, vendor.key].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <Page title="Catalog" about={`${catalog.data.total} vendors, built in. Installing one makes a template that you can change.`}>
      <div className={classes.filters}>
        <AddressInput
          size="xs"
          w={260}
          aria-label="Search the catalog"
          // Not on a telephone, whose keyboard would cover the cards.
          autoFocus={matchMedia('(hover: hover)').matches}
          placeholder="Search …"
          value={q}
          onChange={(text) => set({ q: text === '' ? undefined : text })}
        />
        <Chip.Group value={group} onChange={(next) => set({ group: next === 'all' ? undefined : String(next) })}>
          {['all', ...GROUPS].map((name) => (
            <Chip key={name} value={name} size="xs" variant="filled">
              {labelOf(name)}
            </Chip>
          ))}
        </Chip.Group>
      </div>
      {vendors.length === 0 ? (
        <Empty
          title="No vendor matches"
          action={
            <Button variant="default" onClick={() => set({ q: undefined, group: undefined })}>
              Clear the filters
            </Button>
          }
        >
          Any HTTP API can be reached with{' '}
          <Link to="/catalog/$vendor" params={{ vendor: 'custom_http' }} search={kept}>
            Custom HTTP
          </Link>
          , any endpoint of your own with{' '}
          <Link to="/catalog/$vendor" params={{ vendor: 'webhook' }} search={kept}>
            Webhook
          </Link>
          .
        </Empty>
      ) : (
        <ul className={classes.grid}>
          {vendors.map(({ key, name, description, group: kind, status }) => (
            <li key={key}>
              <Link to="/catalog/$vendor" params={{ vendor: key }} search={kept} className={`panel ${classes.card}`}>
                <span className={classes.cardHead}>
                  <VendorIcon vendor={key} name={name} />
                  <b>{name}</b>
                  {status === 'beta' && <Tag tone="warn">beta</Tag>}
                </span>
                <span className={classes.text}>{description}</span>
                <Tag>{labelOf(kind)}</Tag>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
