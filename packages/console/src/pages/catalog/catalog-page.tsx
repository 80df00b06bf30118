import { SegmentedControl, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../components/page.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { catalogQuery } from '../../queries.ts';
import classes from './catalog.module.css';
import { VendorIcon } from './vendor-icon.tsx';

export function CatalogPage() {
  const { q = '', category = 'all' } = useSearch({ strict: false }) as { q?: string; category?: string };
  const navigate = useNavigate();
  const catalog = useQuery(catalogQuery());
  const set = (next: { q?: string | undefined; category?: string | undefined }) =>
    void navigate({ to: '/catalog', search: (old: object) => ({ ...old, ...next }), replace: true } as never);
  if (catalog.isPending) return <Loading what="the catalog" />;
  if (catalog.isLoadingError) return <Failed error={catalog.error} retry={() => void catalog.refetch()} />;
  const wanted = q.toLowerCase();
  const vendors = catalog.data.vendors.filter(
    (vendor) =>
      (category === 'all' || vendor.category === category) &&
      [vendor.name, vendor.description, vendor.key].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <Page title="Catalog" about={`${catalog.data.total} vendors, built in. Installing one makes a template that you can change.`}>
      <div className={classes.filters}>
        <TextInput
          size="xs"
          w={260}
          aria-label="Search the catalog"
          placeholder="Search …"
          value={q}
          onChange={({ currentTarget }) => set({ q: currentTarget.value === '' ? undefined : currentTarget.value })}
        />
        <SegmentedControl
          size="xs"
          aria-label="Category"
          value={category}
          data={[
            { value: 'all', label: 'All' },
            ...catalog.data.categories.map((name) => ({ value: name, label: name.replaceAll('_', ' ') })),
          ]}
          onChange={(next) => set({ category: next === 'all' ? undefined : next })}
        />
      </div>
      {vendors.length === 0 ? (
        <Empty title="No vendor matches">
          Any HTTP API can be reached with the vendor “Custom HTTP”, any endpoint of your own with “Webhook”.
        </Empty>
      ) : (
        <ul className={classes.grid}>
          {vendors.map(({ key, name, description, category: group, status }) => (
            <li key={key}>
              <Link to="/catalog/$vendor" params={{ vendor: key }} className={`panel ${classes.card}`}>
                <span className={classes.cardHead}>
                  <VendorIcon vendor={key} name={name} />
                  <b>{name}</b>
                  {status === 'beta' && <Tag tone="warn">beta</Tag>}
                </span>
                <span className={classes.text}>{description}</span>
                <Tag>{group.replaceAll('_', ' ')}</Tag>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
