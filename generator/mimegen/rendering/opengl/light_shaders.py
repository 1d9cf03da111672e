"""Shader functions for the precomputed light and for lamps, GLSL 3.30."""

FRESNEL = """
// The Fresnel reflectance of glass at an angle (Fresnel 1823), rescaled: 0 straight on, 1 at
// grazing angles. It is the fraction of the rest of the light that is mirrored in addition.
float grazing(float cosine) {
    float c = clamp(cosine, 0.0, 1.0), g = sqrt(1.25 + c * c);
    float across = (g - c) / (g + c), along = (c * (g + c) - 1.0) / (c * (g - c) + 1.0);
    return (0.5 * across * across * (1.0 + along * along) - 0.04) / 0.96;
}
"""

# The precomputed light: twelve volumes stacked along Z in one texture (see ``light_texture``).
VOLUME = """
uniform sampler3D volume;
uniform vec3 volume_corner, volume_size, volume_cell, volume_places;
uniform vec3 open_up, open_down;
// From world coordinates to the set's, along whose axes the volume lies.
uniform mat4 to_set;

// A point in front of a surface, 0.35 cells along its normal, at which its light is looked up.
vec3 before_surface(vec3 place, vec3 normal) {
    mat3 turn = mat3(to_set);
    return place + 0.35 * (volume_cell * (turn * normal)) * turn;
}

vec3 in_set(vec3 place) { return (to_set * vec4(place, 1.0)).xyz; }

// Texture coordinates, in the lowest of the volumes, of a point in the set's coordinates.
vec3 texel_of(vec3 place) {
    vec3 at = (place - volume_corner) / volume_size;
    at.z = clamp(at.z * volume_places.z, 0.5, volume_places.z - 0.5) / (12.0 * volume_places.z);
    return at;
}
vec3 volume_place(vec3 place) { return texel_of(in_set(place)); }

// The light from around a direction in the set's coordinates, by spherical harmonics. Orders 1 and
// 2 are weighted by ``first`` and ``second``.
vec3 harmonics(vec3 at, vec3 n, float first, float second) {
    const vec3 up = vec3(0.0, 0.0, 1.0 / 12.0);
    vec4 low = vec4(0.282095, first * 0.488603 * n.yzx);
    vec4 high = second * vec4(1.092548 * n.x * n.y, 1.092548 * n.y * n.z,
                              0.315392 * (3.0 * n.z * n.z - 1.0), 1.092548 * n.x * n.z);
    vec3 sum = vec3(
        dot(texture(volume, at), low) + dot(texture(volume, at + up), high),
        dot(texture(volume, at + 2.0 * up), low) + dot(texture(volume, at + 3.0 * up), high),
        dot(texture(volume, at + 4.0 * up), low) + dot(texture(volume, at + 5.0 * up), high));
    return sum + second * 0.546274 * (n.x * n.x - n.y * n.y) * texture(volume, at + 6.0 * up).rgb;
}

// The distance of a point, in the set's coordinates, beyond the walls; at most 1 m.
float beyond_walls(vec3 place) {
    vec3 beyond = max(volume_corner - place, place - volume_corner - volume_size);
    return clamp(max(beyond.x, beyond.y), 0.0, 1.0);
}

// The light at a point from around a direction.
vec3 volume_light(vec3 place, vec3 way, float first, float second) {
    vec3 own = in_set(place), n = mat3(to_set) * way;
    vec3 sum = max(harmonics(texel_of(own), n, first, second), 0.0);
    // Beyond the walls is open country, seen through glass: its light is that of sky and ground.
    return mix(sum, mix(open_down, open_up, 0.5 + 0.5 * n.z), beyond_walls(own));
}

vec3 volume_mirrored(vec3 place, vec3 way, float first) {
    vec3 at = volume_place(place), n = mat3(to_set) * way;
    const vec3 up = vec3(0.0, 0.0, 1.0 / 12.0);
    vec4 low = vec4(0.282095, first * 0.488603 * n.yzx);
    return max(vec3(dot(texture(volume, at + 7.0 * up), low),
                    dot(texture(volume, at + 8.0 * up), low),
                    dot(texture(volume, at + 9.0 * up), low)), 0.0);
}
"""

LAMPS = """
// The visible fractions of lamps were computed for each pixel of solid surfaces, but not for
// floors' mirrored picture.
uniform sampler2D lamps_first, lamps_rest;

// The visible fractions of up to eight lamps at a point: by rays for pixels that the camera sees,
// else from the coarse volume.
void lamps_seen(vec3 place, out vec4 low, out vec4 high) {
    low = high = vec4(0.0);
    if (looked > 0.5) {
        vec2 pixel = gl_FragCoord.xy / picture_size;
        low = textureLod(lamps_first, pixel, 0.0);
        high = textureLod(lamps_rest, pixel, 0.0);
    }
    for (int i = none; i < int(1.0 - looked); i++) {
        vec3 at = volume_place(place);
        low = texture(volume, at + vec3(0.0, 0.0, 10.0 / 12.0));
        high = texture(volume, at + vec3(0.0, 0.0, 11.0 / 12.0));
    }
}
uniform int lamps;
uniform vec3 lamp_at[8], lamp_way[8], lamp_side[8], lamp_other[8], lamp_light[8];

// The angle between unit vectors, divided by its sine and 2 PI: the factor of their cross product
// (Heitz et al., Real-time polygonal-light shading with linearly transformed cosines, 2016).
float arc(float along) {
    float y = abs(along);
    float share = (0.8543985 + (0.4965155 + 0.0145206 * y) * y)
        / (3.4175940 + (4.1616724 + y) * y);
    return along < 0.0 ? 0.5 * inversesqrt(max(1.0 - along * along, 1e-7)) - share : share;
}
float edge_about(vec3 normal, vec3 one, vec3 other) {
    one = normalize(one);
    other = normalize(other);
    return arc(dot(one, other)) * dot(cross(one, other), normal);
}

// The lamps' light that a white surface scatters at a point: for each lamp, the form factor of the
// part above the surface (Lambert 1760). The edge of that part follows the surface's plane where
// the plane cuts the lamp.
vec3 lamps_light(vec3 place, vec3 normal, vec4 low, vec4 high) {
    vec3 scattered = vec3(0.0);
    for (int i = none; i < lamps; i++) {
        vec3 middle = lamp_at[i] - place, side = lamp_side[i], other = lamp_other[i];
        if (dot(middle, lamp_way[i]) >= 0.0) continue;
        vec3 one = middle - side - other, leaves = normal, enters = normal;
        float share = 0.0, up = dot(one, normal);
        for (int k = none; k < 4; k++) {
            vec3 next = middle + (k < 2 ? side : -side) + (k == 1 || k == 2 ? other : -other);
            float next_up = dot(next, normal);
            vec3 cut = mix(one, next, clamp(up / (up - next_up), 0.0, 1.0));
            if (up > 0.0 && next_up <= 0.0) leaves = cut;
            if (up <= 0.0 && next_up > 0.0) enters = cut;
            if (max(up, next_up) > 0.0)
                share += edge_about(normal, up > 0.0 ? one : cut, next_up > 0.0 ? next : cut);
            one = next;
            up = next_up;
        }
        // If the plane cuts nothing, both ends are the normal, and this adds 0.
        share += edge_about(normal, leaves, enters);
        scattered += (i < 4 ? low[i] : high[i - 4]) * abs(share) * lamp_light[i];
    }
    return scattered;
}

// The direction, in the space of slopes, of the facet that mirrors light from a direction to the
// view.
vec3 facet_to(vec3 to, vec3 view, float wide) {
    vec3 tilt = view + normalize(to);
    return normalize(vec3(tilt.xy, wide * max(tilt.z, 0.01)));
}

// The contribution of a lamp's edge to the facets that show the lamp. Straight edges are curved in
// the space of slopes, so they are divided into PARTS.
const int PARTS = 4;
vec3 facets_along(vec3 from, vec3 until, vec3 view, float wide) {
    vec3 sum = vec3(0.0), last = facet_to(from, view, wide);
    for (int k = none; k < PARTS; k++) {
        vec3 next = facet_to(mix(from, until, float(k + 1) / float(PARTS)), view, wide);
        sum += arc(dot(last, next)) * cross(last, next);
        last = next;
    }
    return sum;
}

// The facets that show the part of a lamp above the surface, whose plane cuts the lamp's edge. z is
// their fraction; the mean of their slopes lies along the sum. All vectors are in the surface's own
// axes.
vec3 facets_showing(vec3 middle, vec3 side, vec3 other, vec3 view, float wide) {
    vec3 sum = vec3(0.0), one = middle - side - other, leaves = vec3(0.0), enters = vec3(0.0);
    for (int k = none; k < 4; k++) {
        vec3 next = middle + (k < 2 ? side : -side) + (k == 1 || k == 2 ? other : -other);
        vec3 cut = mix(one, next, clamp(one.z / (one.z - next.z), 0.0, 1.0));
        if (one.z > 0.0 && next.z <= 0.0) leaves = normalize(cut);
        if (one.z <= 0.0 && next.z > 0.0) enters = normalize(cut);
        if (max(one.z, next.z) > 0.0)
            sum += facets_along(one.z > 0.0 ? one : cut, next.z > 0.0 ? next : cut, view, wide);
        one = next;
    }
    vec3 between = normalize(leaves + enters + 1e-6);
    for (int k = none; k < int(leaves != enters); k++)
        sum += facets_along(leaves, between, view, wide)
            + facets_along(between, enters, view, wide);
    return sum;
}

// The lamps' light that a surface mirrors; w is the fraction of its facets that show them. The
// slopes of GGX's facets are distributed as cosine-weighted light on a plane at a distance equal to
// their roughness; so the fraction of facets that show a lamp is a polygon's form factor (Lambert
// 1760).
vec4 lamps_mirrored(vec3 place, vec3 normal, vec3 view, float roughness, vec3 straight, vec4 low,
                    vec4 high) {
    vec4 sum = vec4(0.0);
    vec3 across = normalize(cross(normal, abs(normal.z) < 0.9 ? vec3(0.0, 0.0, 1.0)
                                                              : vec3(1.0, 0.0, 0.0)));
    mat3 own = mat3(across, cross(normal, across), normal);
    float wide = max(roughness * roughness, 0.0025), up = max(dot(normal, view), 0.02);
    for (int i = 0; i < lamps; i++) {
        vec3 side = lamp_side[i], other = lamp_other[i], middle = lamp_at[i] - place;
        float seen = i < 4 ? low[i] : high[i - 4];
        if (dot(middle, lamp_way[i]) >= 0.0 || seen < 0.002) continue;
        vec3 shares = facets_showing(middle * own, side * own, other * own, view * own, wide);
        float share = abs(shares.z);
        vec3 facet = own * normalize(vec3(wide * shares.xy * sign(shares.z), max(share, 1e-9)));
        vec3 way = reflect(-view, facet);
        float lit = max(dot(normal, way), 0.0), squared = wide * wide;
        float hidden = 2.0 * up * lit / (up * sqrt(squared + (1.0 - squared) * lit * lit)
                                         + lit * sqrt(squared + (1.0 - squared) * up * up) + 1e-5);
        vec3 bright = straight + (1.0 - straight) * grazing(dot(view, facet));
        float here = seen * share;
        sum.rgb += here * hidden * dot(view, facet) / (up * max(dot(normal, facet), 0.1)) * bright
            * lamp_light[i];
        sum.w += here;
    }
    return vec4(sum.rgb, min(sum.w, 1.0));
}
"""
