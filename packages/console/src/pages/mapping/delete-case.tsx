import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { RoleButton } from '../../components/role-button.tsx';
import { failureText } from '../../forms.ts';
import { openConfirmModal } from '../../open-confirm-modal.ts';

export function DeleteCase({ id, onDeleted }: { id: string; onDeleted: () => void }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => call(api.DELETE('/v1/admin/test-cases/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      onDeleted();
      await queries.invalidateQueries({ queryKey: ['test-cases'] });
    },
    onError: (error) => notifications.show({ color: 'red', title: 'Not deleted', message: failureText(error) }),
  });
  return (
    <RoleButton
      needs="admin"
      variant="subtle"
      color="red"
      loading={remove.isPending}
      onClick={() =>
        openConfirmModal({
          title: 'Delete this test case?',
          children: 'Its event is removed, with the personal data in it. Mappings stay as they are.',
          labels: { confirm: 'Delete', cancel: 'Keep' },
          confirmProps: { color: 'red' },
          onConfirm: () => remove.mutate(),
        })
      }
    >
      Delete the test case …
    </RoleButton>
  );
}
