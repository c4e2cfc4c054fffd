"""Which values of a cover are stored, and where a view of a value is stored in its place."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ...dialects.hlir.index_map import IndexMap, flat_address, linear_coefficients, row_major_strides
from ...dialects.hlir.view import ViewOp
from ...dialects.kernel import NotOneKernelError, Placement, place
from ...dialects.op import tensor_of
from ...dialects.sym.expr import Expr
from .free import base_of
from .grouping import Group, Grouping


class Memory:
    """For each group the values that it stores; and the free values that a copy kernel of their own stores."""

    def __init__(self, grouping: Grouping):
        self.grouping = grouping
        self.copies: list[SSAValue] = []
        self.stored: dict[int, list[SSAValue]] = {number: [] for number in grouping.groups}
        self._views: dict[int, list[SSAValue]] = {number: [] for number in grouping.groups}
        for value in list(grouping.freedom.required):
            self._require(value)
        for group in list(grouping.groups.values()):
            self._choose_layouts(group)
        for number, group in grouping.groups.items():
            results = [r for op in group.ops for r in op.results if self._is_read(r, group)]
            self.stored[number] = [*results, *self._views[number]]

    def _require(self, value: SSAValue) -> None:
        """Stores a free value: as a view that its group stores, or by a copy kernel."""
        group = self._group_of(base_of(value))
        if group is None or not self._store_view(group, value, linear=False):
            self.copies.append(value)

    def _group_of(self, value: SSAValue) -> Group | None:
        owner = value.owner
        return self.grouping.group_of.get(owner) if isinstance(owner, Operation) else None

    def _choose_layouts(self, group: Group) -> None:
        """Stores a view of a value in its place where that makes all addresses linear: heads merged after attention."""
        for op in group.ops:
            for result in op.results:
                views = [use.operation for use in result.uses if use.operation not in group.ops]
                if len(views) != 1 or not isinstance(views[0], ViewOp) or group.kind == "irregular":
                    continue
                view = views[0]
                if view.result not in self.grouping.freedom.required and not _reads_linearly(view):
                    self._store_view(group, view.result, linear=True)

    def _store_view(self, group: Group, value: SSAValue, *, linear: bool) -> bool:
        """Adds a view to what the group stores, if the kernel can store it (at linear addresses, if asked)."""
        if group.kind == "irregular":
            return False
        required = self.grouping.freedom.required
        was_required = value in required
        required.pop(value, None)
        placement = self._placed(group, [*self._views[group.number], value])
        fits = placement is not None and not (linear and not _stores_linearly(value, placement))
        if fits:
            self._views[group.number].append(value)
        if fits or was_required:
            required[value] = None
        return fits

    def _placed(self, group: Group, views: list[SSAValue]) -> Placement | None:
        results = [r for op in group.ops for r in op.results if self._is_read(r, group, views)]
        try:
            return place([*results, *views], lambda op: self._inside(group, op))
        except NotOneKernelError:
            return None

    def _inside(self, group: Group, op: Operation) -> bool:
        return self.grouping.inside(group.ops, op) or (bool(op.results) and op.results[0] in self._views[group.number])

    def _is_read(self, value: SSAValue, group: Group, views: list[SSAValue] | None = None) -> bool:
        """Whether a kernel, call or terminator outside the group reads the value itself, not a view stored in its
        place."""
        stored = self._views[group.number] if views is None else views
        freedom = self.grouping.freedom
        for use in value.uses:
            user = use.operation
            if user in group.ops:
                continue
            if not freedom.is_free(user):
                return True
            result = user.results[0]
            if result in stored:
                continue
            if result in freedom.required or self._is_read(result, group, views):
                return True
        return False


def _reads_linearly(view: ViewOp) -> bool:
    """Whether the view reads its source, row-major, at addresses linear in its indices."""
    dims = tensor_of(view.source).dims
    return _is_linear(view.map.data, dims, tensor_of(view.result).dims)


def _stores_linearly(value: SSAValue, placement: Placement) -> bool:
    """Whether the last stored value is written, row-major, at addresses linear in the kernel's index."""
    return _is_linear(placement.stored[-1], tensor_of(value).dims, placement.space.extents)


def _is_linear(index_map: IndexMap, dims: tuple[Expr, ...], extents: tuple[Expr, ...]) -> bool:
    address = flat_address(index_map, row_major_strides(dims), extents)
    return linear_coefficients(address, index_map.rank) is not None
