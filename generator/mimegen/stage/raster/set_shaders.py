"""The programs that draw sets: patterns as in ``blender/scenery_materials.py``, light and sky."""

from mimegen.stage.raster.shaders import LIGHT

NOISE = """
// Always 0: with it compilers leave loops alone, which they would write out at great length.
uniform int none;
// Blender's own hash (Jenkins, lookup3) and gradient noise, so that patterns lie where Cycles' do.
uint lattice(ivec3 at) {
    uvec3 h = uvec3(0xdeadbeefu + 25u) + uvec3(at);
    h.z ^= h.y; h.z -= (h.y << 14u) | (h.y >> 18u);
    h.x ^= h.z; h.x -= (h.z << 11u) | (h.z >> 21u);
    h.y ^= h.x; h.y -= (h.x << 25u) | (h.x >> 7u);
    h.z ^= h.y; h.z -= (h.y << 16u) | (h.y >> 16u);
    h.x ^= h.z; h.x -= (h.z << 4u) | (h.z >> 28u);
    h.y ^= h.x; h.y -= (h.x << 14u) | (h.x >> 18u);
    h.z ^= h.y; h.z -= (h.y << 24u) | (h.y >> 8u);
    return h.z;
}
float slope(uint h, vec3 p) {
    h &= 15u;
    float u = h < 8u ? p.x : p.y;
    float v = h < 4u ? p.y : (h == 12u || h == 14u ? p.x : p.z);
    return ((h & 1u) != 0u ? -u : u) + ((h & 2u) != 0u ? -v : v);
}
float wave(vec3 p) {
    ivec3 c = ivec3(floor(p));
    vec3 f = fract(p), w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    float sides[4];
    for (int i = 0; i < 4; i++) {
        ivec3 o = ivec3(0, i & 1, i >> 1);
        sides[i] = mix(slope(lattice(c + o), f - vec3(o)),
                       slope(lattice(c + o + ivec3(1, 0, 0)), f - vec3(o) - vec3(1.0, 0.0, 0.0)),
                       w.x);
    }
    return 0.982 * mix(mix(sides[0], sides[1], w.y), mix(sides[2], sides[3], w.y), w.z);
}
// Noise of several octaves, 0 to 1 around a half.
float fbm(vec3 p, int octaves) {
    float sum = 0.0, size = 1.0, all = 0.0;
    for (int i = none; i < octaves; i++) {
        sum += size * wave(p); all += size; size *= 0.5; p *= 2.0;
    }
    return 0.5 * sum / all + 0.5;
}
"""

SET_VERTEX = """\
#version 330
uniform mat4 to_picture;
// Nothing under this height is drawn.
uniform float lowest;
in vec3 place, normal, own, scattered;
in vec2 uv;
in float offshore;
out vec3 at, facing, inside, strewn;
out vec2 on;
out float away;
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    gl_ClipDistance[0] = place.z - lowest;
    at = place; facing = normal; inside = own; strewn = scattered; on = uv; away = offshore;
}
"""

PATTERNS = """
uniform vec3 color, second, joint;
uniform vec2 size;
uniform float gap;

// Blender's brick texture: every second row is shifted, and each brick has a tint of its own.
float brick_tint(int row, int column) {
    int n = (row << 16) + (column & 0xffff);
    n = (n + 1013) & 0x7fffffff;
    n = (n >> 13) ^ n;
    return 0.5 * float((n * (n * n * 60493 + 19990303) + 1376312589) & 0x7fffffff) / 1073741824.0;
}
vec3 brickwork(float offset) {
    float row = floor(on.y / size.y);
    float shift = mod(row, 2.0) == 0.0 ? offset : 0.0;
    float column = floor(on.x / size.x + shift);
    vec2 within = vec2(fract(on.x / size.x + shift) * size.x, fract(on.y / size.y) * size.y);
    vec2 edge = min(within, size - within);
    float seam = gap * size.y / 2.0;
    vec2 half_pixel = 0.5 * fwidth(on) + 1e-5;
    vec2 covered = max(min(edge + half_pixel, seam) - max(edge - half_pixel, -seam), 0.0);
    vec2 apart = 1.0 - covered / (2.0 * half_pixel);
    float tint = clamp(brick_tint(int(row), int(column)), 0.0, 1.0);
    float grain = fbm(vec3(4.0 * on.x / size.x, 2.5 * on.y / size.y, 0.0), 3);
    vec3 shade = vec3(mix(0.9, 1.06, smoothstep(0.3, 0.7, grain)));
    return mix(joint, mix(color, second, tint), apart.x * apart.y) * shade;
}

vec3 sand(vec3 p) {
    float share = 0.6 * fbm(0.35 * p, 4) + 0.4 * fbm(60.0 * p, 3);
    return mix(second, color, smoothstep(0.36, 0.62, share));
}

vec3 shore(out float wetness) {
    float d = away + 1.6 * (fbm(0.45 * inside, 4) - 0.5);
    float share = 0.6 * fbm(0.35 * inside, 4) + 0.4 * fbm(60.0 * inside, 3);
    vec3 ground = mix(0.6 * color, color, smoothstep(0.36, 0.62, share));
    vec3 wet = mix(ground, 0.42 * color, smoothstep(-1.3, -0.15, d));
    vec3 depth = mix(min(2.6 * second, 1.0), second, smoothstep(0.0, 3.5, d));
    depth = mix(depth, 0.35 * second, smoothstep(4.0, 60.0, d));
    float ridges = fbm(inside * vec3(0.05, 0.3, 1.0), 4);
    depth *= mix(0.7, 1.35, smoothstep(0.35, 0.65, ridges));
    vec3 sea = mix(wet, depth, smoothstep(-0.12, 0.05, d));
    float caps = smoothstep(6.0, 12.0, d) * smoothstep(0.6, 0.66, ridges)
        * smoothstep(0.56, 0.62, fbm(inside * vec3(0.5, 1.6, 1.0), 3));
    float foam = smoothstep(-0.2, 0.12, d) * (1.0 - smoothstep(0.35, 1.5, d));
    float crest = smoothstep(2.2, 2.5, d) * (1.0 - smoothstep(2.6, 3.3, d));
    float lace = smoothstep(0.42, 0.58, fbm(2.2 * inside, 4));
    wetness = smoothstep(-1.0, 0.0, d);
    return mix(sea, vec3(0.9, 0.93, 0.95), clamp((foam + crest) * lace + caps, 0.0, 1.0));
}

float swell(vec3 p) { return 0.48 * fbm(p * vec3(0.35, 1.1, 1.0), 5); }

// The sea's own normal, level where there is land, and far away, where waves are finer than pixels.
vec3 waves(float wetness) {
    vec2 rise = vec2(swell(inside + vec3(0.1, 0.0, 0.0)), swell(inside + vec3(0.0, 0.1, 0.0)));
    float steep = 10.0 * wetness / (1.0 + length(eye - at) / 12.0);
    return normalize(vec3(steep * (swell(inside) - rise), 1.0));
}

vec3 painting() {
    vec3 p = strewn / vec3(size.x, size.x, size.y);
    float field = fbm(2.2 * p, 1), tone = 0.8 * field + fbm(5.0 * p, 5);
    vec3 mixed = mix(color, second, smoothstep(0.55, 1.15, tone));
    return fbm(2.2 * p + 9.0, 1) > 0.66 ? vec3(0.85, 0.78, 0.62) : mixed;
}

// A lawn, a row of trees upon it, a hill and a sky; copies look out at other places.
vec3 outdoors() {
    vec3 p = vec3((strewn.x + strewn.y) / size.x, 0.0, inside.z / size.x);
    float level = inside.z / size.y, leaves = fbm(7.0 * p, 4), drift = fbm(0.9 * p.xyy, 2);
    float row = p.x + 0.8 * drift, crown = sqrt(abs(sin(PI * row)));
    float top = 0.24 + (0.16 + 0.5 * drift) * crown + 0.3 * (leaves - 0.5);
    float light = smoothstep(0.3, 0.68, leaves + 0.35 * (level - 0.4));
    vec3 tree = mix(0.3 * second, min(1.5 * second, 1.0), light);
    vec3 hill = mix(second, color, 0.6);
    vec3 behind = mix(hill, color, smoothstep(-0.02, 0.02, level - 0.3 - 0.3 * drift));
    vec3 shown = mix(tree, behind, smoothstep(-0.015, 0.015, level - top));
    vec3 lawn = min(vec3(1.7, 1.9, 1.1) * second, 1.0) * mix(0.8, 1.0, leaves);
    return mix(lawn, shown, smoothstep(-0.01, 0.01, level - 0.13 - 0.05 * drift));
}

vec3 patterned(out float wetness) {
    wetness = 0.0;
#if PATTERN == 1
    return mix(color, second,
        smoothstep(0.35, 0.68, fbm(strewn / vec3(size.x, size.y, size.y), 6)));
#elif PATTERN == 2
    return brickwork(0.37);
#elif PATTERN == 3
    return brickwork(0.0);
#elif PATTERN == 4
    return brickwork(0.5);
#elif PATTERN == 5
    return mix(second, color, smoothstep(0.12, 0.42,
        fbm(260.0 / size.x * inside, 2) * fbm(2.5 / size.x * inside, 3)));
#elif PATTERN == 6
    return mix(color, second, smoothstep(0.38, 0.64, fbm(strewn / size.x, 7)));
#elif PATTERN == 7
    return sand(inside);
#elif PATTERN == 8
    return fract(on.x / size.x) > 0.5 ? second : color;
#elif PATTERN == 9
    return painting();
#elif PATTERN == 10
    return outdoors();
#elif PATTERN == 11
    return shore(wetness);
#elif PATTERN == 12
    vec2 cord = fract(on / size);
    if (cord.x >= gap && cord.y >= gap) discard;
    return color;
#else
    return color;
#endif
}
"""

SKY = """
uniform vec3 zenith, horizon, below;
uniform float clouds, strength;
vec3 clear_sky(vec3 to) { return mix(horizon, zenith, smoothstep(0.0, 0.45, to.z)); }
"""

# The light that is worked out once: twelve volumes upon one another (light_texture).
VOLUME = """
uniform sampler3D volume;
uniform vec3 volume_corner, volume_size, volume_cell, volume_places;

vec3 volume_place(vec3 place) {
    vec3 at = (place - volume_corner) / volume_size;
    at.z = clamp(at.z * volume_places.z, 0.5, volume_places.z - 0.5) / (12.0 * volume_places.z);
    return at;
}

// The light at a place from around a direction; order 1 and 2 count by the shares given.
vec3 volume_light(vec3 place, vec3 n, float first, float second) {
    vec3 at = volume_place(place);
    const vec3 up = vec3(0.0, 0.0, 1.0 / 12.0);
    vec4 low = vec4(0.282095, first * 0.488603 * n.yzx);
    vec4 high = second * vec4(1.092548 * n.x * n.y, 1.092548 * n.y * n.z,
                              0.315392 * (3.0 * n.z * n.z - 1.0), 1.092548 * n.x * n.z);
    vec3 sum = vec3(
        dot(texture(volume, at), low) + dot(texture(volume, at + up), high),
        dot(texture(volume, at + 2.0 * up), low) + dot(texture(volume, at + 3.0 * up), high),
        dot(texture(volume, at + 4.0 * up), low) + dot(texture(volume, at + 5.0 * up), high));
    sum += second * 0.546274 * (n.x * n.x - n.y * n.y) * texture(volume, at + 6.0 * up).rgb;
    return max(sum, 0.0);
}

vec3 volume_mirrored(vec3 place, vec3 n, float first) {
    vec3 at = volume_place(place);
    const vec3 up = vec3(0.0, 0.0, 1.0 / 12.0);
    vec4 low = vec4(0.282095, first * 0.488603 * n.yzx);
    return max(vec3(dot(texture(volume, at + 7.0 * up), low),
                    dot(texture(volume, at + 8.0 * up), low),
                    dot(texture(volume, at + 9.0 * up), low)), 0.0);
}
"""

LAMPS = """
// From where to where in roughness mirrors change from sharp pictures to what is around.
const vec2 ROUGH = vec2(0.3, 0.6);
uniform int lamps;
uniform vec3 lamp_at[8], lamp_way[8], lamp_side[8], lamp_other[8], lamp_light[8];
uniform int parts;
uniform vec3 part_at[64], part_way[64], part_power[64];
uniform vec4 part_low[64], part_high[64];
uniform float part_area[64];

// The light of lamps that a place scatters, all of it white; each part shines from its middle.
vec3 lamps_light(vec3 place, vec3 before, vec3 normal) {
    vec3 at = volume_place(before), scattered = vec3(0.0);
    vec4 low = texture(volume, at + vec3(0.0, 0.0, 10.0 / 12.0));
    vec4 high = texture(volume, at + vec3(0.0, 0.0, 11.0 / 12.0));
    for (int i = 0; i < parts; i++) {
        vec3 way = part_at[i] - place;
        float far = dot(way, way);
        way *= inversesqrt(far);
        float seen = dot(low, part_low[i]) + dot(high, part_high[i]);
        float shone = max(-dot(part_way[i], way), 0.0) * seen / (far + 0.3 * part_area[i]);
        scattered += part_power[i] * shone * max(dot(normal, way), 0.0);
    }
    return scattered / (PI * PI);
}

// The angle between unit vectors over its sine and 2 PI, times their cross product (Heitz et al.,
// Real-time polygonal-light shading with linearly transformed cosines, 2016).
float edge(vec3 one, vec3 other) {
    float along = dot(one, other), y = abs(along);
    float share = (0.8543985 + (0.4965155 + 0.0145206 * y) * y)
        / (3.4175940 + (4.1616724 + y) * y);
    if (along < 0.0) share = 0.5 * inversesqrt(max(1.0 - along * along, 1e-7)) - share;
    return share * (one.x * other.y - one.y * other.x);
}

// Places along the edges of a lamp, from its middle: what is straight there is curved in slopes.
const int EDGES = 12;
vec3 around_lamp(int number, vec3 side, vec3 other) {
    float along = float(number) * 4.0 / float(EDGES), part = 2.0 * fract(along) - 1.0;
    int which = int(along);
    vec2 at = which == 0 ? vec2(part, -1.0) : which == 1 ? vec2(1.0, part)
        : which == 2 ? vec2(-part, 1.0) : vec2(-1.0, -part);
    return at.x * side + at.y * other;
}

// Where the slope of the facet that mirrors what lies in a direction is on the plane.
vec3 facet_to(vec3 way, vec3 view, mat3 own, float wide) {
    vec3 tilt = (view + normalize(way)) * own;
    return normalize(vec3(tilt.xy, wide * max(tilt.z, 0.01)));
}

// The light of lamps that a surface mirrors; w is the share of its facets that show them. GGX's
// facets have slopes that lie as cosine-weighted light does on a plane as far away as they are
// rough: those that show a lamp are a polygon's form factor (Lambert 1760).
vec4 lamps_mirrored(vec3 place, vec3 normal, vec3 view, float roughness, vec3 straight) {
    vec3 at = volume_place(place), back = reflect(-view, normal);
    vec4 low = texture(volume, at + vec3(0.0, 0.0, 10.0 / 12.0)), sum = vec4(0.0);
    vec4 high = texture(volume, at + vec3(0.0, 0.0, 11.0 / 12.0));
    vec3 across = normalize(cross(normal, abs(normal.z) < 0.9 ? vec3(0.0, 0.0, 1.0)
                                                              : vec3(1.0, 0.0, 0.0)));
    mat3 own = mat3(across, cross(normal, across), normal);
    float wide = max(roughness * roughness, 0.0025), up = max(dot(normal, view), 0.02);
    for (int i = 0; i < lamps; i++) {
        vec3 side = lamp_side[i], other = lamp_other[i], middle = lamp_at[i] - place;
        float against = -dot(back, lamp_way[i]), before = -dot(middle, lamp_way[i]);
        float seen = i < 4 ? low[i] : high[i - 4];
        if (before <= 0.0 || seen < 0.002) continue;
        float share = 0.0;
        vec3 last = facet_to(middle + around_lamp(EDGES - 1, side, other), view, own, wide);
        for (int k = none; k < EDGES; k++) {
            vec3 next = facet_to(middle + around_lamp(k, side, other), view, own, wide);
            share += edge(last, next);
            last = next;
        }
        share = abs(share);
        vec3 aside = back * (against > 1e-3 ? before / against : 1e3) - middle;
        vec2 on_lamp = clamp(vec2(dot(aside, side) / dot(side, side),
                                  dot(aside, other) / dot(other, other)), -1.0, 1.0);
        vec3 way = normalize(middle + on_lamp.x * side + on_lamp.y * other);
        vec3 facet = normalize(view + way);
        float lit = max(dot(normal, way), 0.0), squared = wide * wide;
        float hidden = 2.0 * up * lit / (up * sqrt(squared + (1.0 - squared) * lit * lit)
                                         + lit * sqrt(squared + (1.0 - squared) * up * up) + 1e-5);
        float turned = 1.0 - clamp(dot(view, facet), 0.0, 1.0);
        vec3 bright = straight + (1.0 - straight) * pow(turned, 5.0);
        float here = seen * share;
        sum.rgb += here * hidden * dot(view, facet) / (up * max(dot(normal, facet), 0.1)) * bright
            * lamp_light[i];
        sum.w += here;
    }
    return vec4(sum.rgb, min(sum.w, 1.0));
}
"""

# The set as the floor mirrors it (mirror.py): a picture, and how far away is what it shows.
FLOOR = """
const int FACETS = 8;
uniform sampler2D floor_light, floor_depth;
uniform mat4 to_floor;
uniform vec2 floor_depths;
uniform float floor_share, floor_texels;

// Where a place under the floor lies in the picture; z is its depth.
vec3 on_floor(vec3 place) {
    vec4 clip = to_floor * vec4(place, 1.0);
    return vec3(0.5 * clip.xy / max(clip.w, 1e-3) + 0.5, clip.w);
}

// How deep lies what the picture shows there.
float floor_depth_at(vec3 within) {
    float near = floor_depths.x, far = floor_depths.y;
    float depth = 2.0 * textureLod(floor_depth, within.xy, 0.0).r - 1.0;
    return 2.0 * far * near / (far + near - depth * (far - near));
}

// One of the facets that are seen, around a normal upwards, by two shares.
vec3 facet(vec3 view, float wide, vec2 share) {
    vec3 to = normalize(vec3(wide * view.xy, view.z));
    vec3 side = normalize(vec3(-to.y, to.x + 1e-6, 0.0)), other = cross(to, side);
    float far = sqrt(share.x), turn = 2.0 * PI * share.y;
    float a = far * cos(turn);
    float b = mix(sqrt(1.0 - a * a), far * sin(turn), 0.5 * (1.0 + to.z));
    vec3 found = a * side + b * other + sqrt(max(1.0 - a * a - b * b, 0.0)) * to;
    return normalize(vec3(wide * found.xy, max(found.z, 1e-4)));
}

// The light that the floor mirrors towards the view; w is the share of it that the picture has.
vec4 floor_mirrored(vec3 place, vec3 view, float roughness) {
    float wide = max(roughness * roughness, 0.0025), before = length(eye - place);
    vec3 here = on_floor(place);
    float behind = max(floor_depth_at(here) / here.z - 1.0, 0.0) * before;
    float blur = 2.0 * wide * view.z * behind / (before + behind) * floor_texels;
    float level = log2(max(blur, 1.0) / 2.0);
    vec2 pixel = mod(gl_FragCoord.xy, 2.0);
    float shift = 0.25 * pixel.x + 0.5 * pixel.y;
    vec4 sum = vec4(0.0);
    float all = 0.0;
    for (int i = none; i < FACETS; i++) {
        vec2 share = vec2((float(i) + 0.5) / float(FACETS), fract(float(i) * 0.618034 + shift));
        vec3 normal = facet(view, wide, share), way = reflect(-view, normal);
        if (way.z <= 0.0) continue;
        float aside = 1.0 - clamp(dot(view, normal), 0.0, 1.0);
        float squared = wide * wide;
        float lit = sqrt(squared + (1.0 - squared) * way.z * way.z);
        float seen = sqrt(squared + (1.0 - squared) * view.z * view.z);
        float weight = way.z * (seen + view.z) / (view.z * lit + way.z * seen)
            * (0.04 + 0.96 * pow(aside, 5.0));
        all += weight;
        way.z = -way.z;
        vec3 at_first = on_floor(place + behind * way);
        vec3 met = mix(eye, place + behind * way, floor_depth_at(at_first) / max(at_first.z, 1e-3));
        vec3 found = on_floor(place + length(met - place) * way);
        vec2 room = min(found.xy, 1.0 - found.xy);
        weight *= step(0.0, found.z) * smoothstep(0.0, 0.03, min(room.x, room.y));
        sum += weight * vec4(textureLod(floor_light, found.xy, max(level, 0.0)).rgb, 1.0);
    }
    return vec4(sum.rgb / max(sum.w, 1e-4), sum.w / max(all, 1e-4));
}
"""

SET_FRAGMENT = LIGHT + """
in vec3 at, facing, inside, strewn;
in vec2 on;
in float away;
uniform vec3 shine;
uniform float coat, glow, opacity, sheen, outdoors_share;
out vec4 result;
""" + NOISE + PATTERNS + SKY + VOLUME + LAMPS + FLOOR + """
// What is mirrored from around a direction, but for lamps: sharp where the surface is smooth, the
// sky itself where it is open. Unit vectors' mean reaches as far as ``reach``.
vec3 around(vec3 place, vec3 to, float roughness, float reach) {
    float clear = outdoors_share * (1.0 - smoothstep(0.15, 0.5, roughness)) * step(0.0, to.z);
    vec3 sharp = mix(volume_mirrored(place, to, reach), strength * clear_sky(to), clear);
    // What reaches less has wider lobes, in which order 2 fades sooner.
    float second = clamp(2.08 * (reach - 0.52), 0.0, 1.0);
    return mix(sharp, volume_light(place, to, reach, second),
               smoothstep(ROUGH.x, ROUGH.y, roughness));
}

uniform sampler2D lobes;
vec4 lobe_of(vec3 normal, vec3 view, float roughness) {
    return texture(lobes, vec2(max(dot(normal, view), 0.0), roughness));
}

vec3 mirrored(vec3 place, vec3 normal, vec3 view, vec3 from_sun, float roughness, vec3 straight,
              vec4 lobe) {
    float aside = 1.0 - clamp(dot(view, normalize(view + sun_from)), 0.0, 1.0);
    vec3 facing_sun = straight + (1.0 - straight) * pow(aside, 5.0);
    vec3 flat_part = normal * dot(normal, view) - view;
    float level = sqrt(max(1.0 - lobe.b * lobe.b, 0.0) / max(dot(flat_part, flat_part), 1e-6));
    vec3 all = around(place, normalize(lobe.b * normal + level * flat_part), roughness, lobe.a);
    if (floor_share > 0.0 && normal.z > 0.99 && at.z < 0.05 && roughness < ROUGH.y) {
        vec4 in_floor = floor_mirrored(at, view, roughness);
        all = mix(all, in_floor.rgb, in_floor.w);
    }
    vec4 from_lamps = lamps_mirrored(place, normal, view, roughness, straight);
    return facing_sun * from_sun * gloss(normal, view, sun_from, roughness) + from_lamps.rgb
        + (straight * lobe.r + lobe.g) * all * (1.0 - from_lamps.w);
}

void main() {
    vec3 normal = normalize(facing) * (gl_FrontFacing ? 1.0 : -1.0);
    float wetness;
    vec3 base = patterned(wetness);
    if (glow > 0.0) { result = vec4(glow * base, 1.0); return; }
#if PATTERN == 11
    normal = waves(smoothstep(0.6, 1.0, wetness));
#endif
    vec3 view = normalize(eye - at), before = at + 0.35 * volume_cell * normal;
    float roughness = mix(shine.x, 0.12, wetness), metallic = shine.z;
    vec3 straight = mix(vec3(shine.y), base, metallic);
    vec4 lobe = lobe_of(normal, view, roughness);
    vec3 from_sun = sun * sunlit(at, normal);
    vec3 reaching = from_sun * max(dot(normal, sun_from), 0.0) / PI
        + volume_light(before, normal, 0.6667, 0.25) + lamps_light(at, before, normal);
    vec3 light = base * (1.0 - metallic) * (1.0 - shine.y * lobe.r - lobe.g) * reaching
        + sheen * pow(1.0 - min(abs(dot(normal, view)), 1.0), 2.0) * reaching;
    // What mirrors first is the surface, then its varnish.
    int layers = coat > 0.0 ? 2 : 1;
    for (int layer = none; layer < layers; layer++) {
        if (layer == 1) {
            roughness = 0.12;
            straight = vec3(0.04);
            lobe = lobe_of(normal, view, roughness);
            light *= 1.0 - coat * (0.04 * lobe.r + lobe.g);
        }
        light += (layer == 1 ? coat : 1.0)
            * mirrored(before, normal, view, from_sun, roughness, straight, lobe);
    }
    result = vec4(light, opacity);
}
"""

SKY_VERTEX = """\
#version 330
in vec2 corner;
in vec3 ray;
out vec3 way;
void main() { gl_Position = vec4(corner, 1.0, 1.0); way = ray; }
"""

SKY_FRAGMENT = """\
#version 330
in vec3 way;
out vec4 result;
""" + NOISE + SKY + """
void main() {
    vec3 to = normalize(way);
    vec3 above = clear_sky(to);
    float drift = fbm(1.6 * to * vec3(2.0, 2.0, 9.0), 7);
    above = mix(above, vec3(0.95, 0.96, 1.0), clouds * smoothstep(0.5, 0.72, drift));
    result = vec4(strength * (to.z < 0.0 ? below : above), 1.0);
}
"""
